"""FullyConnected and Softmax: both work on a matrix."""

from __future__ import annotations

import math

import numpy as np

from hexsim.layers import FullyConnected, Softmax
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder


def emit_fully_connected(layer: FullyConnected, graph: GraphBuilder) -> None:
    """Flatten, Gemm, then the bias if it is added separately, then the clamp."""
    batch, *rest = graph.shape(layer.inputs[0])
    data = graph.read(layer.inputs[0])
    if len(rest) != 1:
        data = graph.reshape(data, (batch, math.prod(rest)))
    blocks = graph.matrix(layer.weight)
    parts = graph.split(data, list(blocks.values()), axis=1)
    added = [] if layer.bias is None or graph.separate_bias else [graph.constant(layer.bias)]
    *before, last = zip(parts, blocks, strict=True)
    for pair in before:
        added = [graph.move("Gemm" if added else "MatMul", [*pair, *added])]
    result = graph.compute("Gemm" if added else "MatMul", [*last, *added])
    if layer.bias is not None and graph.separate_bias:
        result = graph.compute("Add", [result, graph.constant(layer.bias)])
    dtype = graph.network.tensors[layer.output].dtype
    graph.finish(graph.clamped(result, layer.clamp, dtype), layer.output)


def emit_softmax(layer: Softmax, graph: GraphBuilder) -> None:
    """Softmax of a matrix: all axes of the sum moved behind the others and flattened.

    That form means the same in every opset.
    """
    shape = graph.shape(layer.inputs[0])
    others = tuple(axis for axis in range(len(shape)) if axis not in layer.axes)
    order = others + layer.axes
    data = graph.read(layer.inputs[0])
    moves = order != tuple(range(len(shape)))
    if moves:
        data = graph.transpose(data, order)
    matrix = (math.prod(shape[a] for a in others), math.prod(shape[a] for a in layer.axes))
    result = graph.compute("Softmax", [graph.reshape(data, matrix)], axis=1)
    result = graph.reshape(result, tuple(shape[axis] for axis in order))
    if moves:
        result = graph.transpose(result, tuple(int(axis) for axis in np.argsort(order)))
    graph.finish(result, layer.output)


EMITTERS: Emitters = {FullyConnected: emit_fully_connected, Softmax: emit_softmax}
