"""Expands attention into products of queries, keys and values, with a softmax between.

Attention of ONNX: tensors of three axes are split into heads, and past keys and values precede the
new ones. Query heads that share a key head are rows of one product, so that no keys are repeated.
Scores are scaled, bounded (softcap), and masked by adding zero or minus infinity. A boolean mask
that varies is added as (1 - mask) * -32768, so that every step is a layer. ONNX requires zeros for
a query from which all keys are hidden: its result is multiplied by zero, the others by one. Not
supported (such nodes stay unchanged): scores as an output, lengths of sequences, attributes of
later versions, and a constant mask that hides all keys from a query. If a varying mask of floats
does so, the softmax of only minus infinity gives NaN.

Attention of com.microsoft: masked positions get a large negative score; a causal mask adds minus
infinity. Not supported: past keys and values, rotary positions, packed tensors, and masks that
state the starts of sequences.
"""

import math
from collections.abc import Sequence

import numpy as np
import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.expansions.quantized_operators import dequantized, real_codes
from hexsim.onnx_io.read.file_graph import FileGraph
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


_HIDDEN = -10000.0
"""Default score of masked positions."""
_EMBEDDING = "com.microsoft.EmbedLayerNormalization"
_FLAGS = ("do_rotary", "past_present_share_buffer")


def fused_attention(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand Attention: one product computes queries, keys and values."""
    if not _is_plain(node, (4, 6)):
        return None
    return _of_one(node, graph, parts, node.required(0), node.required(1), (2, 3, 5))


def quantized_attention(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand QAttention: the same for quantised inputs."""
    if not _is_plain(node, (8,)):
        return None
    data = real_codes(node, (0, 3, 6), graph, parts)
    weight = dequantized(node, (1, 4, 7), graph, parts)
    return _of_one(node, graph, parts, data, weight, (2, 5, -1))


def multi_head_attention(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand MultiHeadAttention: queries, keys and values are inputs, with optional biases."""
    if not _is_plain(node, range(6, 12)) or not (node.input(1) and node.input(2)):
        return None
    if any(graph.rank(name) not in (3, None) for name in node.inputs[1:3]):
        return None
    projected = list(node.inputs[:3])
    if node.input(3):
        biases = parts.split(node.input(3), 3)
        projected = [parts.add("Add", pair) for pair in zip(projected, biases, strict=True)]
    hidden = _hiding(node.input(4), node, graph, parts)
    if hidden is None:
        return None
    causal = _causal(node, projected[0], projected[1], parts)
    return _weighed(node, parts, projected, [hidden, node.input(5), causal])


def _of_one(
    node: OnnxNode,
    graph: FileGraph,
    parts: ExpansionNodes,
    data: str,
    weight: str,
    positions: tuple[int, int, int],
) -> str | None:
    """Expand attention of `data`; `positions` are those of bias, mask and addend of scores."""
    bias, mask, added = (node.input(place) if place >= 0 else "" for place in positions)
    product = parts.add("MatMul", [data, weight])
    if bias:
        product = parts.add("Add", [product, bias])
    hidden = _hiding(mask, node, graph, parts)
    if hidden is None:
        return None
    sizes = node.integers("qkv_hidden_sizes")
    if sizes is not None and len(sizes) != 3:
        raise node.error(f"qkv_hidden_sizes is {list(sizes)}, not three sizes")
    projected = parts.split(product, 3) if sizes is None else parts.split_into(product, sizes)
    causal = _causal(node, data, data, parts)
    return _weighed(node, parts, projected, [hidden, added, causal])


def _weighed(
    node: OnnxNode, parts: ExpansionNodes, projected: Sequence[str], added: Sequence[str]
) -> str:
    """Weigh values by the softmax of scores, head by head."""
    heads = node.integer("num_heads", 1)
    split = parts.constant([0, 0, heads, -1], "int64")
    inputs = [parts.add("Reshape", [name, split]) for name in projected]
    orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    query, key, value = (
        parts.add("Transpose", [name], perm=order)
        for name, order in zip(inputs, orders, strict=True)
    )
    scores = parts.add("Mul", [parts.add("MatMul", [query, key]), _scale(node, inputs[0], parts)])
    for name in filter(None, added):
        scores = parts.add("Add", [scores, name])
    weighted = parts.add("MatMul", [parts.add("Softmax", [scores], axis=3), value])
    joined_heads = parts.add("Transpose", [weighted], perm=[0, 2, 1, 3])
    return parts.reshape(joined_heads, [0, 0, -1])


def _scale(node: OnnxNode, query: str, parts: ExpansionNodes) -> str:
    """Return the scale attribute, or one over the square root of the size of a head."""
    scale = node.real("scale", 0.0)
    if scale:
        return parts.constant(scale)
    place = parts.constant(3, "int64")
    size = parts.add("Gather", [parts.add("Shape", [query]), place], axis=0)
    root = parts.add("Sqrt", [parts.add("Cast", [size], to=onnx.TensorProto.FLOAT)])
    return parts.add("Div", [parts.constant(1.0), root])


def _hiding(mask: str, node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Name the addend of scores for a mask, "" without one; None for an unsupported mask."""
    if not mask:
        return ""
    writer = graph.producers.get(mask)
    if writer is not None and writer.op_type == _EMBEDDING and writer.outputs[1:2] == (mask,):
        mask = writer.input(7)  # its lengths are those of this mask
    elif _rank(mask, graph) != 2:
        return None
    visible_tokens = parts.add("Cast", [mask], to=onnx.TensorProto.FLOAT)
    visible_tokens = parts.reshape(visible_tokens, [0, 1, 1, -1])
    hidden = parts.add("Sub", [parts.constant(1.0), visible_tokens])
    value = node.real("mask_filter_value", _HIDDEN)
    return parts.add("Mul", [hidden, parts.constant(value)])


def _causal(node: OnnxNode, queries: str, keys: str, parts: ExpansionNodes) -> str:
    """Name a tensor that is minus infinity where a key comes after its query, else zero.

    "" for a node without a causal mask. The last query sees all keys, as in onnxruntime, even if
    there are more keys than queries.
    """
    if not node.integer("unidirectional", 0):
        return ""
    start, step = parts.constant(0, "int64"), parts.constant(1, "int64")

    def count(data: str) -> str:
        return parts.add("Gather", [parts.add("Shape", [data]), step], axis=0)

    def places(length: str, shape: list[int]) -> str:
        return parts.reshape(parts.add("Range", [start, length, step]), shape)

    length = count(queries)
    query, key = places(length, [-1, 1]), places(count(keys), [1, -1])
    is_last = parts.add("Equal", [query, parts.add("Sub", [length, step])])
    later = parts.add("And", [parts.add("Less", [query, key]), parts.add("Not", [is_last])])
    return parts.add("Where", [later, parts.constant(-math.inf), parts.constant(0.0)])


def _rank(name: str, graph: FileGraph) -> int | None:
    """Return the number of axes of a tensor, if need be through the Casts before it."""
    while graph.rank(name) is None:
        writer = graph.producers.get(name)
        if writer is None or writer.standard not in ("Cast", "Identity"):
            return None
        name = writer.inputs[0]
    return graph.rank(name)


def _is_plain(node: OnnxNode, without: Sequence[int]) -> bool:
    """True if the node has one output, none of the inputs `without`, and no flags."""
    has_flag = any(node.integer(flag, 0) for flag in _FLAGS)
    return not has_flag and not any(node.outputs[1:]) and not any(map(node.input, without))


EXPANSIONS = {
    "com.microsoft.Attention": fused_attention,
    "com.microsoft.MultiHeadAttention": multi_head_attention,
    "com.microsoft.QAttention": quantized_attention,
}
