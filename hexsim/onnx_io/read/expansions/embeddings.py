"""Expands EmbedLayerNormalization, the first node of a BERT: sums of table rows, normalised.

Not supported: a lengths output that is read although there is no mask.
"""

from collections.abc import Sequence

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.expansions.layer_norms import layer_norm
from hexsim.onnx_io.read.file_graph import FileGraph

_LENGTHS, _SUM = 1, 2
"""Outputs with the number of tokens that are not masked, and with the sum before the norm."""


def embed_layer_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Add the rows of words, positions and, if present, segments, and normalise the sum."""
    ids, segments, words, positions, segment_table, scale, shift, mask, position_ids = (
        node.input(position) for position in range(9)
    )
    for position in (0, 2, 3, 5):  # all but segments, shift, mask and places
        node.required(position)
    lengths = len(node.outputs) > _LENGTHS and node.outputs[_LENGTHS]
    if lengths and not mask and (graph.readers.get(lengths) or lengths in graph.outputs):
        return None
    if node.integer("mask_index_type", 1 if mask else 0) != (1 if mask else 0):
        return None
    total = parts.add("Gather", [words, ids], axis=0)
    if position_ids:
        total = parts.add("Add", [total, parts.add("Gather", [positions, position_ids], axis=0)])
    else:
        length = parts.add("Gather", [parts.add("Shape", [ids]), _whole([1], parts)], axis=0)
        slice_inputs = [_whole([0], parts), length, _whole([0], parts)]
        total = parts.add("Add", [total, parts.add("Slice", [positions, *slice_inputs])])
    if segments:
        total = parts.add("Add", [total, parts.add("Gather", [segment_table, segments], axis=0)])
    result = layer_norm(total, scale, shift, node, parts)
    if mask:
        parts.hand_out(parts.sum(mask, [1]), _LENGTHS)
    parts.hand_out(total, _SUM)
    return result


def _whole(numbers: Sequence[int], parts: ExpansionNodes) -> str:
    return parts.constant(numbers, "int64")


EXPANSIONS = {"com.microsoft.EmbedLayerNormalization": embed_layer_norm}
