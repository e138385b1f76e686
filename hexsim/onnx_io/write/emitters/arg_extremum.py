"""ArgExtremum: the operator, and a Cast of its integers to floats."""

import onnx

from hexsim.layers import ArgExtremum
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder


def emit_arg_extremum(layer: ArgExtremum, graph: GraphBuilder) -> None:
    """ArgMax or ArgMin, then Cast."""
    operator = "ArgMax" if layer.kind == "max" else "ArgMin"
    keepdims = int(layer.keeps_axis)
    data = graph.read(layer.inputs[0])
    places = graph.move(operator, [data], axis=layer.axis, keepdims=keepdims)
    graph.finish(graph.move("Cast", [places], to=onnx.TensorProto.FLOAT), layer.output)


EMITTERS: Emitters = {ArgExtremum: emit_arg_extremum}
