"""FullyConnected and Softmax: both work on a matrix."""

import math

import numpy as np

from hexsim.layers import FullyConnected, Softmax
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder


def emit_fully_connected(layer: FullyConnected, graph: GraphBuilder) -> None:
    """Flatten, Gemm, then the bias if it is added separately, then the clamp."""
    batch, *features = graph.shape(layer.inputs[0])
    data = graph.read(layer.inputs[0])
    if len(features) != 1:
        data = graph.reshape(data, (batch, math.prod(features)))
    blocks = graph.matrix(layer.weight)
    parts = graph.split(data, list(blocks.values()), axis=1)
    addends = [] if layer.bias is None or graph.separate_bias else [graph.constant(layer.bias)]
    *earlier_pairs, last_pair = zip(parts, blocks, strict=True)
    for pair in earlier_pairs:
        addends = [graph.move("Gemm" if addends else "MatMul", [*pair, *addends])]
    result = graph.compute("Gemm" if addends else "MatMul", [*last_pair, *addends])
    if layer.bias is not None and graph.separate_bias:
        result = graph.compute("Add", [result, graph.constant(layer.bias)])
    graph.finish(result, layer.output, layer.clamp)


def emit_softmax(layer: Softmax, graph: GraphBuilder) -> None:
    """Softmax of a matrix: the axes of the sum are moved last and flattened.

    This form means the same in every opset.
    """
    shape = graph.shape(layer.inputs[0])
    other_axes = tuple(axis for axis in range(len(shape)) if axis not in layer.axes)
    order = other_axes + layer.axes
    data = graph.read(layer.inputs[0])
    moves = order != tuple(range(len(shape)))
    if moves:
        data = graph.transpose(data, order)
    matrix = (math.prod(shape[a] for a in other_axes), math.prod(shape[a] for a in layer.axes))
    result = graph.compute("Softmax", [graph.reshape(data, matrix)], axis=1)
    result = graph.reshape(result, tuple(shape[axis] for axis in order))
    if moves:
        result = graph.transpose(result, tuple(int(axis) for axis in np.argsort(order)))
    graph.finish(result, layer.output)


EMITTERS: Emitters = {FullyConnected: emit_fully_connected, Softmax: emit_softmax}
