"""Expands RotaryEmbedding: pairs of numbers of each head are rotated by an angle per position.

The result is the numbers times their cosines, plus those of the other half times their sines, which
are negative in the first half. If pairs are interleaved, so are cosines and sines. The tables are
converted to this form before their rows are gathered by position, so that constant tables stay
constants.

Not supported (such nodes stay unchanged): packed batches, and scales other than one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.importer import Importer


@dataclass(frozen=True)
class _Inputs:
    """Names of the inputs; `positions` is empty if the tables have a row per token."""

    data: str
    cosines: str
    sines: str
    positions: str


def rotary_embedding(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Expand the operator of ONNX."""
    data, cosines, sines = (node.required(place) for place in range(3))
    return _rotated(node, net, _Inputs(data, cosines, sines, node.input(3)))


def fused_rotary_embedding(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Expand the operator of com.microsoft; a single position is that of the first token."""
    data, positions, cosines, sines = (node.required(place) for place in range(4))
    if node.integer("is_packed_batching", 0):
        raise NotALayerError("its batches are packed")
    if node.real("scale", 1.0) != 1:
        raise NotALayerError("it has a scale other than one")
    return _rotated(node, net, _Inputs(data, cosines, sines, positions))


def _rotated(node: OnnxNode, net: Importer, inputs: _Inputs) -> Sequence[onnx.NodeProto]:
    if any(net.dtype(name) != "float32" for name in (inputs.data, inputs.cosines, inputs.sines)):
        raise NotALayerError("not float32")
    parts, shape = ExpansionNodes(node), net.source_shape(inputs.data)
    table = net.source_shape(inputs.cosines)
    if len(table) not in (2, 3) or net.source_shape(inputs.sines) != table:
        raise InvalidDataError("its cosines and sines are no tables of the same shape")
    rotated = 2 * table[-1]
    heads = _by_heads(node, shape, rotated)
    if not 0 < rotated <= heads[-1] or node.integer("rotary_embedding_dim", 0) not in (0, rotated):
        raise InvalidDataError(
            f"it has cosines for {rotated} numbers of a head, which do not fit heads of {heads[-1]}"
        )
    data = inputs.data if heads == shape else parts.reshape(inputs.data, heads)
    paired = bool(node.integer("interleaved", 0))
    tokens = shape[0], shape[1 if len(shape) == 3 else 2]
    positions = _positions(inputs.positions, net, parts, tokens)
    if len(table) != (2 if positions else 3):
        raise InvalidDataError(f"its cosines have {len(table)} axes")
    if not positions and table[:2] not in (tokens, (1, tokens[1])):
        raise InvalidDataError(f"its cosines have the shape {list(table)}")
    factors = []
    for name, first_table in ((inputs.cosines, inputs.cosines), (inputs.sines, "")):
        first_table = first_table or parts.add("Neg", [name])
        rows = _joined(parts, first_table, name, table, paired)
        if positions:
            rows = parts.add("Gather", [rows, positions], axis=0)
        axis = 2 if len(shape) == 3 else 1
        batch = tokens[0] if positions else table[0]
        sizes = [batch, tokens[1], rotated]
        factors.append(parts.reshape(rows, (*sizes[:axis], 1, *sizes[axis:])))
    part = data if rotated == heads[-1] else parts.slice(data, 0, rotated, 3)
    swapped = _swapped(parts, part, (*heads[:3], rotated), paired)
    products = [parts.add("Mul", pair) for pair in zip((part, swapped), factors, strict=True)]
    result = parts.add("Add", products)
    if rotated < heads[-1]:
        unrotated = parts.slice(data, rotated, heads[-1], 3)
        result = parts.add("Concat", [result, unrotated], axis=3)
    if heads != shape:
        result = parts.reshape(result, shape)
    return parts.finish(result)


def _by_heads(node: OnnxNode, shape: Shape, rotated: int) -> Shape:
    """Return the shape with heads: (N, heads, L, size), or (N, L, heads, size) for three axes."""
    if len(shape) == 4:
        return shape
    if len(shape) != 3:
        raise InvalidDataError(f"its input has {len(shape)} axes, not 3 or 4")
    heads = node.integer("num_heads", 0) or shape[2] // max(rotated, 1)
    if heads < 1 or shape[2] % heads:
        raise InvalidDataError(
            f"its input of {shape[2]} channels does not divide into {heads} heads"
        )
    return (*shape[:2], heads, shape[2] // heads)


def _positions(name: str, net: Importer, parts: ExpansionNodes, tokens: tuple[int, int]) -> str:
    """Name the positions of all tokens (N, L); empty if the node has none."""
    if not name:
        return ""
    shape = net.source_shape(name)
    if shape == tokens:
        return name
    if shape != (1,):
        raise InvalidDataError(f"its positions have the shape {list(shape)}, not {list(tokens)}")
    token_numbers = parts.constant([list(range(tokens[1]))] * tokens[0], net.dtype(name))
    return parts.add("Add", [name, token_numbers])


def _joined(parts: ExpansionNodes, first: str, second: str, shape: Shape, paired: bool) -> str:
    """Concatenate the rows of `first` and `second`, interleaved if `paired`."""
    if not paired:
        return parts.add("Concat", [first, second], axis=len(shape) - 1)
    columns = [parts.reshape(name, (*shape, 1)) for name in (first, second)]
    joined = parts.add("Concat", columns, axis=len(shape))
    return parts.reshape(joined, (*shape[:-1], 2 * shape[-1]))


def _swapped(parts: ExpansionNodes, name: str, shape: Shape, paired: bool) -> str:
    """Swap the two halves, or the two numbers of each pair."""
    half = shape[-1] // 2
    if not paired:
        halves = [parts.slice(name, half, 2 * half, 3), parts.slice(name, 0, half, 3)]
        return parts.add("Concat", halves, axis=3)
    pairs = parts.reshape(name, (shape[0], shape[1], shape[2] * half, 2))
    columns = [parts.slice(pairs, 1, 2, 3), parts.slice(pairs, 0, 1, 3)]
    return parts.reshape(parts.add("Concat", columns, axis=3), shape)


SHAPED = {
    "RotaryEmbedding": rotary_embedding,
    "com.microsoft.RotaryEmbedding": fused_rotary_embedding,
}
