"""Reduce and ArgExtremum: one operator, and for the latter a Cast of its integers to floats.

The axes of a Reduce are an attribute before opset 18, for a sum before 13.

Normalization, in operators that every opset has.
"""

import numpy as np
import onnx

from hexsim.layers import ArgExtremum, Normalization, Reduce
from hexsim.layers.reduce import ReduceKind
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_OPERATORS: dict[ReduceKind, tuple[str, int]] = {
    "mean": ("ReduceMean", 18),
    "sum": ("ReduceSum", 13),
    "max": ("ReduceMax", 18),
    "min": ("ReduceMin", 18),
}
"""Name, and the first opset in which axes are an input."""


def emit_reduce(layer: Reduce, graph: GraphBuilder) -> None:
    """Write the operator; maximum and minimum need no rounding."""
    operator, axes_are_input = _OPERATORS[layer.kind]
    write = graph.move if layer.moves_codes else graph.compute
    data = graph.read(layer.inputs[0])
    if graph.opset >= axes_are_input:
        axes = graph.literal(np.array(layer.axes, np.int64))
        result = write(operator, [data, axes], keepdims=1)
    else:
        result = write(operator, [data], axes=list(layer.axes), keepdims=1)
    graph.finish(result, layer.output)


def emit_arg_extremum(layer: ArgExtremum, graph: GraphBuilder) -> None:
    """ArgMax or ArgMin, then Cast."""
    operator = "ArgMax" if layer.kind == "max" else "ArgMin"
    keepdims = int(layer.keeps_axis)
    data = graph.read(layer.inputs[0])
    places = graph.move(operator, [data], axis=layer.axis, keepdims=keepdims)
    graph.finish(graph.move("Cast", [places], to=onnx.TensorProto.FLOAT), layer.output)


_AXES_ARE_INPUTS = 18
"""The opset since which reductions take their axes as an input."""


def emit_normalization(layer: Normalization, graph: GraphBuilder) -> None:
    """Subtract the mean if need be, divide by the root, then scale, shift and clamp."""
    data = graph.read(layer.inputs[0])
    dtype = graph.network.tensors[layer.output].dtype

    def reduced(operator: str, name: str) -> str:
        if graph.opset < _AXES_ARE_INPUTS:
            return graph.compute(operator, [name], axes=layer.axes, keepdims=1)
        axes = graph.literal(np.array(layer.axes, np.int64))
        return graph.compute(operator, [name, axes], keepdims=1)

    if layer.kind == "deviation":
        data = graph.compute("Sub", [data, reduced("ReduceMean", data)])
    squares = graph.compute("Mul", [data, data])
    operator = "ReduceMean"
    if layer.kind == "length":
        # A mean, since the form of ReduceSum changed in another opset.
        count = np.array(layer.count(graph.shape(layer.inputs[0])), dtype)
        square = graph.compute("Mul", [reduced(operator, squares), graph.literal(count)])
    else:
        square = reduced(operator, squares)
    epsilon = graph.literal(np.array(max(layer.epsilon, _SMALLEST), dtype))
    # In float32 in every precision: the epsilon would be zero in float16.
    root = graph.move("Sqrt", [graph.move("Add", [square, epsilon])])
    if layer.floor:
        root = graph.move("Max", [root, graph.literal(np.array(layer.floor, dtype))])
    result = graph.compute("Div", [data, root])
    if layer.scale is not None:
        result = graph.compute("Mul", [result, graph.constant(layer.scale)])
    if layer.shift is not None:
        result = graph.compute("Add", [result, graph.constant(layer.shift)])
    graph.finish(result, layer.output, layer.clamp)


_SMALLEST = float(np.finfo(np.float32).tiny)
"""Smallest epsilon, so that zeros that are normalised without an epsilon stay zeros."""


EMITTERS: Emitters = {
    ArgExtremum: emit_arg_extremum,
    Reduce: emit_reduce,
    Normalization: emit_normalization,
}
