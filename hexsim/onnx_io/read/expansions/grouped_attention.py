"""Expands GroupQueryAttention of com.microsoft, first into rotations, then into Attention of ONNX.

All lengths have to be constant, so that the mask of a causal graph is a constant. The cache may
have room for later tokens, which is cut off, and appended again to what is written.

Not supported (such nodes stay unchanged): lengths or positions that are inputs, codes in the cache,
sinks, and norms of heads.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import onnx
from onnx import helper

from hexsim.errors import InvalidDataError
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.expansions.scaled_attention import attention
from hexsim.onnx_io.read.importer import Importer

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
    """Split one tensor into queries, keys and values."""
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


SHAPED = {"com.microsoft.GroupQueryAttention": grouped_query_attention}
