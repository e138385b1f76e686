"""Layers that work element by element in any axis order."""

from __future__ import annotations

from hexsim.layers import BatchNorm, Elementwise, Neuron, Prelu
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.layers.neuron import NeuronFunction
from hexsim.onnx_io.graph_builder import Emitters, GraphBuilder

_BINARY: dict[ElementwiseKind, str] = {
    "sum": "Add",
    "product": "Mul",
    "sub": "Sub",
    "div": "Div",
    "max": "Max",
    "min": "Min",
}
_UNARY: dict[NeuronFunction, str] = {
    "leaky_relu": "LeakyRelu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "elu": "Elu",
    "hard_sigmoid": "HardSigmoid",
}
_ATTRIBUTES: dict[NeuronFunction, tuple[str, ...]] = {
    "leaky_relu": ("alpha",),
    "elu": ("alpha",),
    "hard_sigmoid": ("alpha", "beta"),
}


def emit_elementwise(layer: Elementwise, graph: GraphBuilder) -> None:
    """Binary operators from left to right, then the clamp."""
    result, *others = (graph.read(name) for name in layer.inputs)
    for other in others:
        result = graph.compute(_BINARY[layer.kind], [result, other])
    dtype = graph.network.tensors[layer.output].dtype
    graph.finish(graph.clamped(result, layer.clamp, dtype), layer.output)


def emit_batch_norm(layer: BatchNorm, graph: GraphBuilder) -> None:
    """Mul and Add along the last axis, then the clamp."""
    result = graph.compute("Mul", [graph.read(layer.inputs[0]), graph.constant(layer.scale)])
    result = graph.compute("Add", [result, graph.constant(layer.shift)])
    dtype = graph.network.tensors[layer.output].dtype
    graph.finish(graph.clamped(result, layer.clamp, dtype), layer.output)


def emit_neuron(layer: Neuron, graph: GraphBuilder) -> None:
    """The operator of the function; hard swish is x times a hard sigmoid of slope 1/6."""
    data = graph.read(layer.inputs[0])
    if layer.function == "clamp":
        dtype = graph.network.tensors[layer.output].dtype
        clamped = graph.clamped(data, layer.clamp, dtype)
        result = graph.move("Identity", [data]) if clamped == data else clamped
    elif layer.function == "hard_swish":
        gate = graph.compute("HardSigmoid", [data], alpha=1 / 6, beta=0.5)
        result = graph.compute("Mul", [data, gate])
    else:
        names = _ATTRIBUTES.get(layer.function, ())
        attributes = {name: getattr(layer, name) for name in names}
        result = graph.compute(_UNARY[layer.function], [data], **attributes)
    graph.finish(result, layer.output)


def emit_prelu(layer: Prelu, graph: GraphBuilder) -> None:
    """PRelu along the last axis."""
    inputs = [graph.read(layer.inputs[0]), graph.constant(layer.slope)]
    graph.finish(graph.compute("PRelu", inputs), layer.output)


EMITTERS: Emitters = {
    BatchNorm: emit_batch_norm,
    Elementwise: emit_elementwise,
    Neuron: emit_neuron,
    Prelu: emit_prelu,
}
