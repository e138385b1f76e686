"""Reduce and ArgExtremum: one operator, and for the latter a Cast of its integers to floats.

The axes of a Reduce are an attribute before opset 18, for a sum before 13.
"""

import numpy as np
import onnx

from hexsim.layers import ArgExtremum, Reduce
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


EMITTERS: Emitters = {ArgExtremum: emit_arg_extremum, Reduce: emit_reduce}
