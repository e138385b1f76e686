"""Expands GroupQueryAttention of com.microsoft, first into rotations, then into Attention of ONNX.

All lengths have to be constant, so that the mask of a causal graph is a constant. The cache may
have room for later tokens, which is cut off, and appended again to what is written. Not supported
(such nodes stay unchanged): lengths or positions that are inputs, codes in the cache, sinks, and
norms of heads.

RotaryEmbedding: the result is the numbers times their cosines, plus those of the other half times
their sines, which are negative in the first half. If pairs are interleaved, so are cosines and
sines. The tables are converted to this form before their rows are gathered by position, so that
constant tables stay constants. Not supported: packed batches, and scales other than one.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import onnx
from onnx import helper

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.expansions.attention import attention
from hexsim.onnx_io.read.importer import Importer
from hexsim.records import dataclass

_LENGTHS, _TOTAL, _COSINES, _SINES, _POSITIONS, _BIAS = range(5, 11)
"""Positions of inputs after queries, keys, values, and past keys and values."""
_FLAGS = ("smooth_softmax", "qk_output", "kv_cache_bit_width", "sliding_window_cache")


def grouped_query_attention(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Weigh values by the softmax of scores; groups of query heads share keys and values."""
    past = _past_length(node, net)
    if node.input(3) and net.source_shape(node.inputs[3])[2] > past:
        return _without_room(node, past, net)
    if not node.input(1):
        return _split(node, net)
    if node.integer("do_rotary", 0):
        return _rotated(node, net, past)
    inputs = [*node.inputs[:3], node.input(_BIAS), *node.inputs[3:5]]
    attributes: dict[str, Any] = {
        "is_causal": node.integer("causal", 1),
        "q_num_heads": _heads(node),
        "kv_num_heads": node.integer("kv_num_heads", 0),
        "softcap": node.real("softcap", 0.0),
    }
    window = node.integer("local_window_size", -1)
    if window > 0:
        attributes["left_window_size"] = window - 1  # the query's own key is one of the window
    if node.real("scale", 0.0):
        attributes["scale"] = node.real("scale", 0.0)
    proto = helper.make_node("Attention", inputs, node.outputs[:3], **attributes)
    return attention(OnnxNode(proto, node.name, node.opset), net)


def _past_length(node: OnnxNode, net: Importer) -> int:
    """Return the number of tokens in the cache; NotALayerError if the node is not supported."""
    if any(node.integer(flag, 0) > 0 for flag in _FLAGS):
        raise NotALayerError("it has sinks, codes in its cache, or its scores as an output")
    if any(map(node.input, range(_BIAS + 1, len(node.inputs)))):
        raise NotALayerError("it has inputs for sinks, scales or norms")
    if node.input(_POSITIONS):
        raise NotALayerError("its positions are an input")
    shape = net.source_shape(node.required(0))
    if len(shape) != 3:
        raise InvalidDataError(f"its queries have {len(shape)} axes, not 3")
    room = 0
    if past := node.input(3):
        past_shape = net.source_shape(past)
        if len(past_shape) != 4:
            raise InvalidDataError(f"its cache has {len(past_shape)} axes, not 4")
        room = past_shape[2]
    lengths = net.whole_numbers(node.required(_LENGTHS))
    totals = net.whole_numbers(node.required(_TOTAL))
    past_length = totals[0] - shape[1] if totals else -1
    if {last + 1 for last in lengths} != {*totals} or not 0 <= past_length <= room:
        raise NotALayerError(
            f"its lengths are not those of {shape[1]} new tokens after at most {room} past ones"
        )
    if past_length < room < totals[0]:
        raise NotALayerError(f"its cache has room for {room} of {totals[0]} tokens")
    if node.integer("local_window_size", -1) == 0:
        raise NotALayerError("its window hides all keys")
    return past_length


def _without_room(node: OnnxNode, past: int, net: Importer) -> Sequence[onnx.NodeProto]:
    """Read only the `past` tokens of the cache, and write a cache with its room."""
    parts = ExpansionNodes(node)
    room = net.source_shape(node.inputs[3])[2]
    total = past + net.source_shape(node.inputs[0])[1]
    caches = node.inputs[3:5]
    taken = [parts.slice(name, 0, past, 2) if past else "" for name in caches]
    result = parts.copy(node.standard, [*node.inputs[:3], *taken, *node.inputs[5:]])
    proto = parts.nodes[-1]
    proto.domain = node.proto.domain
    for place, cache in enumerate(caches, 1):
        written = f"{node.name}.written_{place}"
        proto.output.append(written)
        if place < len(node.outputs) and node.outputs[place]:
            rest = parts.slice(cache, total, room, 2)
            parts.hand_out(parts.add("Concat", [written, rest], axis=2), place)
    nodes = parts.finish(result)
    proto.name = f"{node.name}.full"  # the names of its own parts begin with its name
    return nodes


def _heads(node: OnnxNode) -> int:
    heads, groups = node.integer("num_heads", 0), node.integer("kv_num_heads", 0)
    if heads < 1 or groups < 1:
        raise InvalidDataError(f"num_heads is {heads} and kv_num_heads {groups}")
    return heads


def _split(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    heads, groups = _heads(node), node.integer("kv_num_heads", 0)
    columns = net.source_shape(node.inputs[0])[2]
    size, rest = divmod(columns, heads + 2 * groups)
    if rest:
        raise InvalidDataError(f"{columns} columns do not divide into {heads + 2 * groups} heads")
    parts = ExpansionNodes(node)
    starts = [0, heads * size, (heads + groups) * size, columns]
    projected = [parts.slice(node.inputs[0], *ends, 2) for ends in pairwise(starts)]
    return _attended(node, parts, projected, "split")


def _rotated(node: OnnxNode, net: Importer, past: int) -> Sequence[onnx.NodeProto]:
    """Rotate queries and keys from the position of the first new token."""
    parts = ExpansionNodes(node)
    tables = [node.required(place) for place in (_COSINES, _SINES)]
    shape = net.source_shape(tables[0])
    if len(shape) != 2:
        raise InvalidDataError(f"its table of cosines has {len(shape)} axes, not 2")
    rotated = 2 * shape[1]
    turned = []
    counts = (_heads(node), node.integer("kv_num_heads", 0))
    for name, heads in zip(node.inputs[:2], counts, strict=True):
        inputs = [name, parts.constant([past], "int64"), *tables]
        attributes = {"num_heads": heads, "rotary_embedding_dim": rotated}
        attributes["interleaved"] = node.integer("rotary_interleaved", 0)
        turned.append(parts.add("RotaryEmbedding", inputs, domain="com.microsoft", **attributes))
    return _attended(node, parts, [*turned, node.inputs[2]], "rotated")


def _attended(
    node: OnnxNode, parts: ExpansionNodes, projected: Sequence[str], step: str
) -> Sequence[onnx.NodeProto]:
    """Add the node itself on queries, keys and values that are split or rotated."""
    without = ("do_rotary",) if step == "rotated" else ()
    result = parts.copy(node.standard, [*projected, *node.inputs[3:]], without)
    proto = parts.nodes[-1]
    proto.domain = node.proto.domain
    proto.output.extend(node.outputs[1:])
    nodes = parts.finish(result)
    proto.name = f"{node.name}.{step}"  # the names of its own parts begin with its name
    return nodes


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
    return _embedded(node, net, _Inputs(data, cosines, sines, node.input(3)))


def fused_rotary_embedding(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Expand the operator of com.microsoft; a single position is that of the first token."""
    data, positions, cosines, sines = (node.required(place) for place in range(4))
    if node.integer("is_packed_batching", 0):
        raise NotALayerError("its batches are packed")
    if node.real("scale", 1.0) != 1:
        raise NotALayerError("it has a scale other than one")
    return _embedded(node, net, _Inputs(data, cosines, sines, positions))


def _embedded(node: OnnxNode, net: Importer, inputs: _Inputs) -> Sequence[onnx.NodeProto]:
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
    if not paired:
        return parts.add("Concat", [first, second], axis=len(shape) - 1)
    columns = [parts.reshape(name, (*shape, 1)) for name in (first, second)]
    joined = parts.add("Concat", columns, axis=len(shape))
    return parts.reshape(joined, (*shape[:-1], 2 * shape[-1]))


def _swapped(parts: ExpansionNodes, name: str, shape: Shape, paired: bool) -> str:
    half = shape[-1] // 2
    if not paired:
        halves = [parts.slice(name, half, 2 * half, 3), parts.slice(name, 0, half, 3)]
        return parts.add("Concat", halves, axis=3)
    pairs = parts.reshape(name, (shape[0], shape[1], shape[2] * half, 2))
    columns = [parts.slice(pairs, 1, 2, 3), parts.slice(pairs, 0, 1, 3)]
    return parts.reshape(parts.add("Concat", columns, axis=3), shape)


SHAPED = {
    "com.microsoft.GroupQueryAttention": grouped_query_attention,
    "RotaryEmbedding": rotary_embedding,
    "com.microsoft.RotaryEmbedding": fused_rotary_embedding,
}
