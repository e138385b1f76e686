"""Layers that work element by element in any axis order."""

from hexsim.layers import BatchNorm, Elementwise, Prelu
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_BINARY: dict[ElementwiseKind, str] = {
    "sum": "Add",
    "product": "Mul",
    "sub": "Sub",
    "div": "Div",
    "max": "Max",
    "min": "Min",
}


def emit_elementwise(layer: Elementwise, graph: GraphBuilder) -> None:
    """Binary operators from left to right, then the clamp."""
    result, *operands = (graph.read(name) for name in layer.inputs)
    for operand in operands:
        result = graph.compute(_BINARY[layer.kind], [result, operand])
    graph.finish(result, layer.output, layer.clamp)


def emit_batch_norm(layer: BatchNorm, graph: GraphBuilder) -> None:
    """Mul and Add along the last axis, then the clamp."""
    result = graph.compute("Mul", [graph.read(layer.inputs[0]), graph.constant(layer.scale)])
    result = graph.compute("Add", [result, graph.constant(layer.shift)])
    graph.finish(result, layer.output, layer.clamp)


def emit_prelu(layer: Prelu, graph: GraphBuilder) -> None:
    """PRelu along the last axis."""
    inputs = [graph.read(layer.inputs[0]), graph.constant(layer.slope)]
    graph.finish(graph.compute("PRelu", inputs), layer.output)


EMITTERS: Emitters = {
    BatchNorm: emit_batch_norm,
    Elementwise: emit_elementwise,
    Prelu: emit_prelu,
}
