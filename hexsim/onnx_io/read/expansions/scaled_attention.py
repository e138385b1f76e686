"""Expands Attention of ONNX: products of queries, keys and values, with a softmax between.

1. Tensors of three axes are split into heads. Past keys and values precede the new ones.
2. Query heads that share a key head are rows of one product, so that no keys are repeated.
3. Scores are scaled, bounded (softcap), and masked by adding zero or minus infinity.
4. A boolean mask that varies is added as (1 - mask) * -32768, so that every step
   is a layer. ONNX requires zeros for a query from which all keys are hidden: its result is
   multiplied by zero, and that of the other queries by one.

Not supported (such nodes stay unchanged): scores as an output, lengths of sequences, attributes of
later versions, and a constant mask that hides all keys from a query. If a varying mask of floats
does so, the softmax of only minus infinity gives NaN.
"""

import math
from collections.abc import Sequence

import numpy as np
import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.importer import Importer

_ATTRIBUTES = {
    "is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap",
    "softmax_precision",
}  # fmt: skip
"""What version 23 of the operator has."""
_WINDOWS = ("left_window_size", "right_window_size")
"""Attributes of version 25; -1 means no window."""
_HIDES = -32768.0
"""What hides a key by a varying mask (our choice): half of the range of float16, so that it is
finite there, with scores added too. Minus infinity times zero would be no number."""


def attention(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Weigh values by the softmax of scores, head by head."""
    _require_plain(node, net)
    parts = ExpansionNodes(node)
    query, query_shape = _heads(node, net, parts, 0, "q_num_heads")
    key, key_shape = _with_past(node, net, parts, 1, 4)
    value, value_shape = _with_past(node, net, parts, 2, 5)
    batch, heads, rows, size = query_shape
    groups, length = key_shape[1:3]
    if key_shape != (batch, groups, length, size) or value_shape[:3] != key_shape[:3]:
        raise InvalidDataError("its queries, keys and values are not of the same batch and sizes")
    if 0 in (*query_shape, *key_shape):
        raise NotALayerError("its queries or keys are empty")
    if heads % groups:
        raise InvalidDataError(f"its {heads} heads of queries do not share {groups} of keys")
    scores_shape = (batch, heads, rows, length)
    merged = heads // groups * rows
    if heads != groups:
        query = parts.reshape(query, (batch, groups, merged, size))
    scores = parts.add("MatMul", [query, parts.add("Transpose", [key], perm=[0, 1, 3, 2])])
    scores = _scaled(node, parts, scores, size)
    if heads != groups:
        scores = parts.reshape(scores, scores_shape)
    visible = _varying_visibility(node, net, parts)
    nearby = _visibility_by_position(node, net, scores_shape)
    for bias in _biases(node, net, parts, scores_shape, visible, nearby):
        scores = parts.add("Add", [scores, bias])
    weights = parts.add("Softmax", [scores], axis=3)
    if heads != groups:
        weights = parts.reshape(weights, (batch, groups, merged, length))
    result = parts.add("MatMul", [weights, value])
    if heads != groups:
        result = parts.reshape(result, (batch, heads, rows, value_shape[3]))
    if visible:
        if nearby is not None:
            visible = parts.add("Mul", [visible, parts.constant(nearby)])
        any_visible = parts.add("ReduceMax", [visible, parts.constant([-1], "int64")], keepdims=1)
        result = parts.add("Mul", [result, any_visible])
    if len(net.source_shape(node.inputs[0])) == 3:
        result = parts.add("Transpose", [result], perm=[0, 2, 1, 3])
        result = parts.reshape(result, (batch, rows, heads * value_shape[3]))
    return parts.finish(result)


def _require_plain(node: OnnxNode, net: Importer) -> None:
    if any(node.outputs[3:]):
        raise NotALayerError("its scores are an output")
    if node.input(6):
        raise NotALayerError("the lengths of sequences are an input")
    later = {attribute.name for attribute in node.proto.attribute} - _ATTRIBUTES - {*_WINDOWS}
    if later:
        raise NotALayerError(f"it has an attribute '{min(later)}'")
    places = [place for place in (0, 1, 2, 4, 5) if node.input(place)]
    if any(net.dtype(node.inputs[place]) != "float32" for place in places):
        raise NotALayerError("not float32")
    if bool(node.input(4)) != bool(node.input(5)):
        raise InvalidDataError("it has past keys without past values, or values without keys")
    if len({len(net.source_shape(name)) for name in node.inputs[:3]}) > 1:
        raise InvalidDataError("its queries, keys and values have different numbers of axes")


def _heads(
    node: OnnxNode, net: Importer, parts: ExpansionNodes, position: int, attribute: str
) -> tuple[str, Shape]:
    """Return an input as (N, heads, L, size), and that shape."""
    name = node.inputs[position]
    shape = net.source_shape(name)
    if len(shape) == 4:
        return name, shape
    if len(shape) != 3:
        raise InvalidDataError(f"'{name}' has {len(shape)} axes, not 3 or 4")
    batch, length, channels = shape
    heads = node.integer(attribute, 0)
    if heads < 1 or channels % heads:
        raise InvalidDataError(
            f"'{name}' of {channels} channels does not divide by {attribute} {heads}"
        )
    split = parts.reshape(name, (batch, length, heads, channels // heads))
    result = parts.add("Transpose", [split], perm=[0, 2, 1, 3])
    return result, (batch, heads, length, channels // heads)


def _with_past(
    node: OnnxNode, net: Importer, parts: ExpansionNodes, position: int, past_position: int
) -> tuple[str, Shape]:
    """Append keys or values to the past ones; write them if they are outputs of the node."""
    name, shape = _heads(node, net, parts, position, "kv_num_heads")
    if node.input(past_position):
        past_shape = net.source_shape(node.inputs[past_position])
        if len(past_shape) != 4 or (*past_shape[:2], past_shape[3]) != (*shape[:2], shape[3]):
            raise InvalidDataError(
                f"'{node.inputs[past_position]}' has the shape {list(past_shape)}"
            )
        name = parts.add("Concat", [node.inputs[past_position], name], axis=2)
        shape = (*shape[:2], past_shape[2] + shape[2], shape[3])
    output = node.outputs[position] if position < len(node.outputs) else ""
    if not output:
        return name, shape
    if name == node.inputs[position]:
        name = parts.add("Identity", [name])
    parts.hand_out(name, position)
    return output, shape


def _scaled(node: OnnxNode, parts: ExpansionNodes, scores: str, size: int) -> str:
    """Scale the scores, and bound them if the node has a softcap."""
    scale = node.real("scale", 0.0) if node.has("scale") else 1 / math.sqrt(size)
    softcap = node.real("softcap", 0.0)
    if not softcap:
        return parts.add("Mul", [scores, parts.constant(scale)])
    bounded = parts.add("Tanh", [parts.add("Mul", [scores, parts.constant(scale / softcap)])])
    return parts.add("Mul", [bounded, parts.constant(softcap)])


def _varying_visibility(node: OnnxNode, net: Importer, parts: ExpansionNodes) -> str:
    """Name the varying boolean mask as numbers 1 (visible) and 0; "" if the node has none."""
    mask = node.input(3)
    if not mask or mask in net.known or net.dtype(mask) != "bool":
        return ""
    return parts.add("Cast", [mask], to=onnx.TensorProto.FLOAT)


def _visibility_by_position(node: OnnxNode, net: Importer, scores: Shape) -> np.ndarray | None:
    """Return which keys a query may see by its position, (queries, keys); None for all.

    A window has so many keys to the left and right of the query's own position.
    """
    left, right = (node.integer(name, -1) for name in _WINDOWS)
    if node.integer("is_causal", 0):
        right = 0
    if left < 0 and right < 0:
        return None
    past_length = net.source_shape(node.inputs[4])[2] if node.input(4) else 0
    distance = np.arange(scores[3]) - past_length - np.arange(scores[2])[:, None]
    visible = np.ones(distance.shape, np.float32)
    if left >= 0:
        visible[distance < -left] = 0
    if right >= 0:
        visible[distance > right] = 0
    return visible


def _biases(
    node: OnnxNode,
    net: Importer,
    parts: ExpansionNodes,
    scores: Shape,
    visible: str,
    nearby: np.ndarray | None,
) -> list[str]:
    """Return the addends of scores; the constant ones are summed into one."""
    mask = node.input(3)
    constant = np.zeros((), np.float32)
    if nearby is not None:
        constant = _hidden(nearby > 0)
    addends = []
    if mask:
        shape = net.source_shape(mask)
        reversed_shape = shape[::-1]
        fits = all(
            size in (1, score_size)
            for size, score_size in zip(reversed_shape, scores[::-1], strict=False)
        )
        if len(shape) > 4 or not fits:
            raise NotALayerError(f"its mask {list(shape)} does not fit scores {list(scores)}")
        if mask in net.known:
            array = net.known[mask].read()
            constant = constant + (_hidden(array) if array.dtype == bool else array)
        elif visible:
            hidden = parts.add("Sub", [parts.constant(1.0), visible])
            addends.append(parts.add("Mul", [hidden, parts.constant(_HIDES)]))
        else:
            addends.append(mask)
    if nearby is not None or mask in net.known:
        if np.isneginf(np.broadcast_to(constant, scores)).all(axis=3).any():
            raise NotALayerError("its mask hides all keys from a query")
        addends.append(parts.constant(constant))
    return addends


def _hidden(visible: np.ndarray) -> np.ndarray:
    """Return zero where `visible`, else minus infinity."""
    return np.where(visible, np.float32(0), np.float32(-np.inf))


SHAPED = {"Attention": attention}
