"""Layers that work element by element, or reduce axes, in any axis order.

They are written in operators that every opset has: one, or several if need be. The axes of a Reduce
are an attribute before opset 18, for a sum before 13.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx

from hexsim import layers
from hexsim.layers.elementwise import ElementwiseKind, NeuronFunction
from hexsim.layers.images import YVU_ORIGIN, YVU_TO_BGR
from hexsim.layers.reduce import ReduceKind
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_BINARY: dict[ElementwiseKind, str] = {
    "sum": "Add",
    "product": "Mul",
    "sub": "Sub",
    "div": "Div",
    "max": "Max",
    "min": "Min",
}


def emit_elementwise(layer: layers.Elementwise, graph: GraphBuilder) -> None:
    """Binary operators from left to right, then the clamp."""
    result, *operands = (graph.read(name) for name in layer.inputs)
    for operand in operands:
        result = graph.compute(_BINARY[layer.kind], [result, operand])
    graph.finish(result, layer.output, layer.clamp)


def emit_batch_norm(layer: layers.BatchNorm, graph: GraphBuilder) -> None:
    """Mul and Add along the last axis, then the clamp."""
    result = graph.compute("Mul", [graph.read(layer.inputs[0]), graph.constant(layer.scale)])
    result = graph.compute("Add", [result, graph.constant(layer.shift)])
    graph.finish(result, layer.output, layer.clamp)


def emit_prelu(layer: layers.Prelu, graph: GraphBuilder) -> None:
    """PRelu along the last axis."""
    inputs = [graph.read(layer.inputs[0]), graph.constant(layer.slope)]
    graph.finish(graph.compute("PRelu", inputs), layer.output)


Written = Callable[[str, layers.Neuron, GraphBuilder], str]
"""Writes a function of the named tensor and returns the name of the result."""


def emit_neuron(layer: layers.Neuron, graph: GraphBuilder) -> None:
    """The function's operators."""
    data = graph.read(layer.inputs[0])
    if layer.function == "clamp":
        clamped = graph.clamped(data, layer.clamp, _dtype(layer, graph))
        result = graph.move("Identity", [data]) if clamped == data else clamped
    else:
        result = WRITTEN[layer.function](data, layer, graph)
    graph.finish(result, layer.output)


def _operator(operator: str, *attributes: str) -> Written:
    """One operator with some of the layer's fields as attributes."""

    def write(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
        return graph.compute(
            operator, [data], **{name: getattr(layer, name) for name in attributes}
        )

    return write


def _hard_swish(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    gate = graph.compute("HardSigmoid", [data], alpha=1 / 6, beta=0.5)
    return graph.compute("Mul", [data, gate])


def _silu(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    inner = data
    if layer.alpha != 1:
        inner = graph.compute("Mul", [data, _number(layer.alpha, layer, graph)])
    return graph.compute("Mul", [data, graph.compute("Sigmoid", [inner])])


def _mish(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    gate = graph.compute("Tanh", [graph.compute("Softplus", [data])])
    return graph.compute("Mul", [data, gate])


def _gelu(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    inner = graph.compute("Mul", [data, _number(math.sqrt(0.5), layer, graph)])
    return _half_of_one_plus(data, graph.compute("Erf", [inner]), layer, graph)


def _gelu_tanh(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    cube = graph.compute("Mul", [graph.compute("Mul", [data, data]), data])
    cube = graph.compute("Mul", [cube, _number(0.044715, layer, graph)])
    inner = graph.compute("Add", [data, cube])
    inner = graph.compute("Mul", [inner, _number(math.sqrt(2 / math.pi), layer, graph)])
    return _half_of_one_plus(data, graph.compute("Tanh", [inner]), layer, graph)


def _half_of_one_plus(data: str, gate: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    """x / 2 * (1 + gate)."""
    open_share = graph.compute("Add", [gate, _number(1.0, layer, graph)])
    half = graph.compute("Mul", [data, _number(0.5, layer, graph)])
    return graph.compute("Mul", [half, open_share])


def _pow(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    return graph.compute("Pow", [data, _number(layer.alpha, layer, graph)])


def _rsqrt(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    return graph.compute("Reciprocal", [graph.compute("Sqrt", [data])])


def _square(data: str, layer: layers.Neuron, graph: GraphBuilder) -> str:
    return graph.compute("Mul", [data, data])


def _number(value: float, layer: layers.Neuron, graph: GraphBuilder) -> str:
    return graph.literal(np.array(value, _dtype(layer, graph)))


def _dtype(layer: layers.Neuron, graph: GraphBuilder) -> str:
    return graph.network.tensors[layer.output].dtype


_NAMED_ALIKE: tuple[NeuronFunction, ...] = (
    *("abs", "ceil", "cos", "erf", "exp", "floor", "log", "neg", "reciprocal", "round"),
    *("sigmoid", "sin", "softplus", "softsign", "sqrt", "tanh"),
)
"""Functions that are one operator, of the same name."""
WRITTEN: Mapping[NeuronFunction, Written] = {
    **{function: _operator(function.capitalize()) for function in _NAMED_ALIKE},
    "leaky_relu": _operator("LeakyRelu", "alpha"),
    "elu": _operator("Elu", "alpha"),
    "hard_sigmoid": _operator("HardSigmoid", "alpha", "beta"),
    "hard_swish": _hard_swish,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "mish": _mish,
    "pow": _pow,
    "rsqrt": _rsqrt,
    "silu": _silu,
    "square": _square,
}
"""The emitters by function, except for the clamp."""


_ROWS, _COLUMNS, _CHANNELS = 1, 2, 3


def emit_colour_conversion(layer: layers.ColourConversion, graph: GraphBuilder) -> None:
    """Gather the channels in another order, or convert NV21 by its matrix, without rounding."""
    data = graph.read(layer.inputs[0])
    if layer.channels is not None:
        indices = graph.literal(np.array(layer.channels, np.int64))
        graph.finish(graph.move("Gather", [data, indices], axis=_CHANNELS), layer.output)
        return
    batch, height, width, _ = graph.shape(layer.output)
    luma = _gather(graph, data, np.arange(height), _ROWS)
    chroma = _gather(graph, data, height + np.arange(height) // 2, _ROWS)
    chroma = graph.reshape(chroma, (batch, height, width // 2, 2))
    chroma = _gather(graph, chroma, np.arange(width) // 2, _COLUMNS)
    colours = graph.move("Concat", [luma, chroma], axis=_CHANNELS)
    origin = graph.literal(np.array(YVU_ORIGIN, np.float32))
    colours = graph.compute("Sub", [colours, origin])
    colours = graph.compute("MatMul", [colours, graph.literal(np.array(YVU_TO_BGR, np.float32))])
    graph.finish(colours, layer.output, layers.Clamp(0.0, 255.0))


def _gather(graph: GraphBuilder, data: str, indices: np.ndarray, axis: int) -> str:
    return graph.move("Gather", [data, graph.literal(indices.astype(np.int64))], axis=axis)


_OPERATORS: dict[ReduceKind, tuple[str, int]] = {
    "mean": ("ReduceMean", 18),
    "sum": ("ReduceSum", 13),
    "max": ("ReduceMax", 18),
    "min": ("ReduceMin", 18),
}
"""Name, and the first opset in which axes are an input."""


def _reduced(
    kind: ReduceKind, data: str, axes: Sequence[int], write: Callable[..., str], graph: GraphBuilder
) -> str:
    operator, axes_are_input = _OPERATORS[kind]
    if graph.opset < axes_are_input:
        return write(operator, [data], axes=list(axes), keepdims=1)
    return write(operator, [data, graph.literal(np.array(axes, np.int64))], keepdims=1)


def emit_reduce(layer: layers.Reduce, graph: GraphBuilder) -> None:
    """Write the operator; maximum and minimum need no rounding."""
    write = graph.move if layer.moves_codes else graph.compute
    data = graph.read(layer.inputs[0])
    graph.finish(_reduced(layer.kind, data, layer.axes, write, graph), layer.output)


def emit_arg_extremum(layer: layers.ArgExtremum, graph: GraphBuilder) -> None:
    """ArgMax or ArgMin, then Cast."""
    operator = "ArgMax" if layer.kind == "max" else "ArgMin"
    keepdims = int(layer.keeps_axis)
    data = graph.read(layer.inputs[0])
    places = graph.move(operator, [data], axis=layer.axis, keepdims=keepdims)
    graph.finish(graph.move("Cast", [places], to=onnx.TensorProto.FLOAT), layer.output)


def emit_normalization(layer: layers.Normalization, graph: GraphBuilder) -> None:
    """Subtract the mean if need be, divide by the root, then scale, shift and clamp."""
    data = graph.read(layer.inputs[0])
    dtype = graph.network.tensors[layer.output].dtype

    if layer.kind == "deviation":
        mean = _reduced("mean", data, layer.axes, graph.compute, graph)
        data = graph.compute("Sub", [data, mean])
    squares = graph.compute("Mul", [data, data])
    square = _reduced("mean", squares, layer.axes, graph.compute, graph)
    if layer.kind == "length":
        # Of a mean, since the form of ReduceSum changed in another opset.
        count = np.array(layer.count(graph.shape(layer.inputs[0])), dtype)
        square = graph.compute("Mul", [square, graph.literal(count)])
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
    layers.BatchNorm: emit_batch_norm,
    layers.Elementwise: emit_elementwise,
    layers.Prelu: emit_prelu,
    layers.Neuron: emit_neuron,
    layers.ColourConversion: emit_colour_conversion,
    layers.ArgExtremum: emit_arg_extremum,
    layers.Reduce: emit_reduce,
    layers.Normalization: emit_normalization,
}
