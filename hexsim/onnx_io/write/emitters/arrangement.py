"""Layers that move elements without computing, or change nothing in float."""

from collections.abc import Sequence

import numpy as np

from hexsim import layers
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder


def emit_concat(layer: layers.Concat, graph: GraphBuilder) -> None:
    """Concat."""
    result = graph.move("Concat", [graph.read(name) for name in layer.inputs], axis=layer.axis)
    graph.finish(result, layer.output)


def emit_convert(layer: layers.Convert, graph: GraphBuilder) -> None:
    """Identity: a change of encodings does not affect floats."""
    graph.finish(graph.move("Identity", [graph.read(layer.inputs[0])]), layer.output)


def emit_permute(layer: layers.Permute, graph: GraphBuilder) -> None:
    """Transpose."""
    graph.finish(graph.transpose(graph.read(layer.inputs[0]), layer.permutation), layer.output)


def emit_reshape(layer: layers.Reshape, graph: GraphBuilder) -> None:
    """Reshape."""
    graph.finish(graph.reshape(graph.read(layer.inputs[0]), layer.shape), layer.output)


def emit_channel_shuffle(layer: layers.ChannelShuffle, graph: GraphBuilder) -> None:
    """Reshape the channels to a matrix of groups, and transpose it."""
    *outer, channels = graph.shape(layer.inputs[0])
    rank = len(outer)
    result = graph.reshape(
        graph.read(layer.inputs[0]), (*outer, layer.groups, channels // layer.groups)
    )
    result = graph.transpose(result, (*range(rank), rank + 1, rank))
    graph.finish(graph.reshape(result, (*outer, channels)), layer.output)


def emit_blocks(layer: layers.DepthToSpace | layers.SpaceToDepth, graph: GraphBuilder) -> None:
    """Reshape to blocks and transpose, which every opset supports."""
    split, permutation = layer.view(graph.shape(layer.inputs[0]))
    result = graph.transpose(graph.reshape(graph.read(layer.inputs[0]), split), permutation)
    graph.finish(graph.reshape(result, graph.shape(layer.output)), layer.output)


def emit_tile(layer: layers.Tile, graph: GraphBuilder) -> None:
    """Tile."""
    repeats = graph.literal(np.array(layer.repeats, np.int64))
    graph.finish(graph.move("Tile", [graph.read(layer.inputs[0]), repeats]), layer.output)


def emit_gather(layer: layers.Gather, graph: GraphBuilder) -> None:
    """Gather."""
    inputs = [graph.read(layer.inputs[0]), _indices(layer.indices, graph)]
    graph.finish(graph.move("Gather", inputs, axis=layer.axis), layer.output)


def emit_pad(layer: layers.Pad, graph: GraphBuilder) -> None:
    """Pad by a constant (pads are attributes before opset 11), or a Gather per axis.

    onnxruntime refuses to reflect more elements than an axis has, and to wrap in old opsets.
    """
    data, pads = graph.read(layer.inputs[0]), [*layer.begins, *layer.ends]
    if layer.mode != "constant":
        result = graph.move("Identity", [data])
        for axis, size in enumerate(graph.shape(layer.inputs[0])):
            if layer.begins[axis] or layer.ends[axis]:
                positions = _indices(layer.positions(axis, size), graph)
                result = graph.move("Gather", [result, positions], axis=axis)
    elif graph.opset < 11:
        result = graph.move("Pad", [data], pads=pads, value=layer.value)
    else:
        value = np.array(layer.value, np.float32)
        inputs = [graph.literal(np.array(pads, np.int64)), graph.literal(value)]
        result = graph.move("Pad", [data, *inputs])
    graph.finish(result, layer.output)


def _indices(positions: Sequence[int], graph: GraphBuilder) -> str:
    return graph.literal(np.array(positions, np.int64))


def emit_slice(layer: layers.StridedSlice, graph: GraphBuilder) -> None:
    """Slice; before opset 10 its bounds were attributes and it had no steps."""
    lists = {
        "starts": [part.start for part in layer.parts],
        "ends": [part.stop for part in layer.parts],
        "axes": [part.axis for part in layer.parts],
        "steps": [part.step for part in layer.parts],
    }
    data = graph.read(layer.inputs[0])
    if graph.opset < 10:
        del lists["steps"]
        graph.finish(graph.move("Slice", [data], **lists), layer.output)
        return
    bounds = [graph.literal(np.array(values, np.int64)) for values in lists.values()]
    graph.finish(graph.move("Slice", [data, *bounds]), layer.output)


EMITTERS: Emitters = {
    layers.ChannelShuffle: emit_channel_shuffle,
    layers.Concat: emit_concat,
    layers.Convert: emit_convert,
    layers.DepthToSpace: emit_blocks,
    layers.Gather: emit_gather,
    layers.Pad: emit_pad,
    layers.Permute: emit_permute,
    layers.Reshape: emit_reshape,
    layers.SpaceToDepth: emit_blocks,
    layers.StridedSlice: emit_slice,
    layers.Tile: emit_tile,
}
