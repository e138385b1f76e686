"""FullyConnected, MatMul and Softmax: all work on matrices."""

import math

import numpy as np

from hexsim.layers import FullyConnected, MatMul, Softmax
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


def emit_mat_mul(layer: MatMul, graph: GraphBuilder) -> None:
    """MatMul in stored order."""
    first, second = (graph.read(name) for name in layer.inputs)
    dtype = graph.network.tensors[layer.output].dtype
    if layer.transposed:
        rank = len(graph.shape(layer.inputs[1]))
        second = graph.transpose(second, (*range(rank - 2), rank - 1, rank - 2))
    result = graph.compute("MatMul", [first, second])
    if layer.alpha != 1.0:
        result = graph.compute("Mul", [result, graph.literal(np.array(layer.alpha, dtype))])
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


EMITTERS: Emitters = {
    FullyConnected: emit_fully_connected,
    MatMul: emit_mat_mul,
    Softmax: emit_softmax,
}
