"""FullyConnected, MatMul and Softmax: all work on matrices.

Recurrent: LSTM, GRU or RNN.
"""

import math

import numpy as np

from hexsim.layers import FullyConnected, MatMul, Recurrent, Softmax
from hexsim.onnx_io.file.known import Array
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


_OPERATORS = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN"}


def emit_recurrent(layer: Recurrent, graph: GraphBuilder) -> None:
    """Write the operator with the parameters in ONNX's order."""
    directions = layer.directions

    def by_rows(array: Array) -> Array:
        return array.reshape(len(array), directions, -1).transpose(1, 2, 0)

    def beside(array: Array) -> Array:
        return array.reshape(2, directions, -1).transpose(1, 0, 2).reshape(directions, -1)

    initial = dict(zip(layer.initial, layer.inputs[1:], strict=True))
    inputs = [
        graph.read(layer.inputs[0]),
        graph.constant(layer.weight, f"rows_{directions}", by_rows),
        graph.constant(layer.recurrence, f"rows_{directions}", by_rows),
        "" if layer.bias is None else graph.constant(layer.bias, f"onnx_{directions}", beside),
        "",
        *(graph.read(initial[state]) if state in initial else "" for state in ("hidden", "cell")),
    ]
    while not inputs[-1]:
        inputs.pop()
    late = {"linear_before_reset": 1} if layer.resets_late else {}
    result = graph.compute(
        _OPERATORS[layer.cell], inputs, hidden_size=layer.hidden, direction=layer.direction, **late
    )
    graph.finish(result, layer.output)


EMITTERS: Emitters = {
    FullyConnected: emit_fully_connected,
    MatMul: emit_mat_mul,
    Softmax: emit_softmax,
    Recurrent: emit_recurrent,
}
