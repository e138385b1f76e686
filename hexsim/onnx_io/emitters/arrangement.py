"""Layers that move elements without computing, or do nothing in float."""

from __future__ import annotations

from hexsim.layers import ChannelShuffle, Concat, Convert, Permute, Reshape
from hexsim.onnx_io.graph_builder import Emitters, GraphBuilder


def emit_concat(layer: Concat, graph: GraphBuilder) -> None:
    """Concat."""
    result = graph.move("Concat", [graph.read(name) for name in layer.inputs], axis=layer.axis)
    graph.finish(result, layer.output)


def emit_convert(layer: Convert, graph: GraphBuilder) -> None:
    """Identity: encodings are no business of floats."""
    graph.finish(graph.move("Identity", [graph.read(layer.inputs[0])]), layer.output)


def emit_permute(layer: Permute, graph: GraphBuilder) -> None:
    """Transpose."""
    graph.finish(graph.transpose(graph.read(layer.inputs[0]), layer.permutation), layer.output)


def emit_reshape(layer: Reshape, graph: GraphBuilder) -> None:
    """Reshape."""
    graph.finish(graph.reshape(graph.read(layer.inputs[0]), layer.shape), layer.output)


def emit_channel_shuffle(layer: ChannelShuffle, graph: GraphBuilder) -> None:
    """Channels as a matrix of groups, transposed."""
    *outer, channels = graph.shape(layer.inputs[0])
    rank = len(outer)
    result = graph.reshape(
        graph.read(layer.inputs[0]), (*outer, layer.groups, channels // layer.groups)
    )
    result = graph.transpose(result, (*range(rank), rank + 1, rank))
    graph.finish(graph.reshape(result, (*outer, channels)), layer.output)


EMITTERS: Emitters = {
    ChannelShuffle: emit_channel_shuffle,
    Concat: emit_concat,
    Convert: emit_convert,
    Permute: emit_permute,
    Reshape: emit_reshape,
}
