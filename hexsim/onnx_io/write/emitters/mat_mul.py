"""MatMul: a Transpose if need be, the operator, its factor and the clamp."""

import numpy as np

from hexsim.layers import MatMul
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder


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


EMITTERS: Emitters = {MatMul: emit_mat_mul}
