"""Expands attention of com.microsoft into products, a softmax, and transposes between them.

Queries, keys and values are split into heads; the softmax of products of queries with keys, scaled
and masked, weighs the values. Masked positions get a large negative score. A causal mask adds minus
infinity, like the masks of other exporters.

Not supported (such nodes stay unchanged): past keys and values, rotary positions, packed tensors,
and masks that state the starts of sequences.
"""

import math
from collections.abc import Sequence

import onnx

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.expansions.dynamic_quantization import dequantized, real_codes
from hexsim.onnx_io.read.file_graph import FileGraph

_HIDDEN = -10000.0
"""Default score of masked positions."""
_EMBEDDING = "com.microsoft.EmbedLayerNormalization"
_FLAGS = ("do_rotary", "past_present_share_buffer")


def attention(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
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
    return _heads(node, parts, projected, [hidden, node.input(5), causal])


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
    return _heads(node, parts, projected, [hidden, added, causal])


def _heads(
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
    "com.microsoft.Attention": attention,
    "com.microsoft.MultiHeadAttention": multi_head_attention,
    "com.microsoft.QAttention": quantized_attention,
}
