"""Elementwise functions, and layers of several operands or whole axes.

Several operands or whole axes: Eltwise, Axpy, Reduction, ArgMax.

Elementwise functions: ReLU and its variants, powers, exponentials, logarithms.
"""

import math
from collections.abc import Callable

from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import axis_of


def eltwise(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add the product, the sum with coefficients, or the maximum of two or more inputs."""
    fields = layer.fields.message("eltwise_param")
    kind = fields.value("operation", "SUM")
    fields.value("stable_prod_grad", True)
    shape, coefficients = net.shape(layer), fields.values("coeff")
    for position in range(len(layer.inputs)):
        if net.shape(layer, position) != shape:
            other = list(net.shape(layer, position))
            raise layer.error(f"its inputs have the shapes {list(shape)} and {other}")
    if len(layer.inputs) < 2:
        raise layer.error("it has one input, and takes two or more")
    if coefficients and (kind != "SUM" or len(coefficients) != len(layer.inputs)):
        raise layer.error(
            f"it has {len(coefficients)} values of 'coeff'; a SUM takes one for each input"
        )
    op_type = {"PROD": "Mul", "SUM": "Add", "MAX": "Max"}[kind]
    operands = [
        name if factor == 1 else net.numbers(layer, "Mul", name, f"scaled{index}", factor)
        for index, (name, factor) in enumerate(
            zip(layer.inputs, coefficients or [1.0] * len(layer.inputs), strict=True)
        )
    ]
    data, *operands_left = operands
    for number, operand in enumerate(operands_left, start=1):
        is_last = number == len(operands_left)
        output = layer.outputs[0] if is_last else net.inner(layer, f"of{number + 1}")
        data = net.add(layer, op_type, [data, operand], shape, output)


def axpy(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a * x + y with one a per channel, as in squeeze-and-excitation networks."""
    factors, data, addend = (net.shape(layer, position) for position in range(3))
    if addend != data or (*factors, 1, 1)[:4] != (*data[:2], 1, 1):
        raise layer.error(
            f"its inputs have the shapes {list(factors)}, {list(data)} and {list(addend)}"
        )
    scales = layer.inputs[0]
    if len(factors) != len(data):
        target = net.constant(layer, "shape", (*data[:2], 1, 1), "int64")
        name = net.inner(layer, "factors")
        scales = net.add(layer, "Reshape", [scales, target], (*data[:2], 1, 1), name)
    product = net.inner(layer, "product")
    net.add(layer, "Mul", [layer.inputs[1], scales], data, product)
    net.add(layer, "Add", [product, layer.inputs[2]], data)


def reduction(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a sum, a sum of magnitudes or squares, or a mean over the axes from `axis` on, scaled."""
    fields = layer.fields.message("reduction_param")
    shape = net.shape(layer)
    axis = axis_of(layer, fields.value("axis", 0), len(shape))
    if axis == 0:
        raise layer.error("'axis' is 0; only results per batch item are supported")
    ops = {"SUM": "ReduceSum", "ASUM": "ReduceL1", "SUMSQ": "ReduceSumSquare", "MEAN": "ReduceMean"}
    kind = fields.value("operation", "SUM")
    factor, rows = fields.value("coeff", 1.0), (*shape[:axis], math.prod(shape[axis:]))
    target = net.constant(layer, "shape", rows, "int64")
    data = net.add(layer, "Reshape", [layer.inputs[0], target], rows, net.inner(layer, "rows"))
    output = layer.outputs[0] if factor == 1 else net.inner(layer, "result")
    if kind == "SUM":
        axes = net.constant(layer, "axes", [axis], "int64")
        net.add(layer, ops[kind], [data, axes], shape[:axis], output, keepdims=0)
    else:
        net.add(layer, ops[kind], [data], shape[:axis], output, axes=[axis], keepdims=0)
    if factor != 1:
        net.numbers(layer, "Mul", output, None, factor)


def arg_max(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add the index of the maximum along an axis, or in a whole batch item, as float32."""
    fields = layer.fields.message("argmax_param")
    shape, data = net.shape(layer), layer.inputs[0]
    if fields.value("top_k", 1) != 1 or fields.value("out_max_val", False):
        raise layer.error("only the index of the maximum is supported (top_k: 1, no out_max_val)")
    if fields.has("axis"):
        axis = axis_of(layer, fields.value("axis", 0), len(shape))
        target = (*shape[:axis], 1, *shape[axis + 1 :])
    else:
        axis, rows = 1, (shape[0], math.prod(shape[1:]))
        data = net.add(layer, "Flatten", [data], rows, net.inner(layer, "rows"), axis=1)
        target = (shape[0], *(1,) * max(len(shape) - 1, 2))
    places = (*net.shapes[data][:axis], 1, *net.shapes[data][axis + 1 :])
    place = net.add(layer, "ArgMax", [data], places, net.inner(layer, "place"), axis=axis)
    if places == target:
        net.add(layer, "Cast", [place], target, to=1)
        return
    as_float = net.add(layer, "Cast", [place], places, net.inner(layer, "real"), to=1)
    net.add(layer, "Reshape", [as_float, net.constant(layer, "shape", target, "int64")], target)


def plain(op_type: str) -> Callable[[CaffeLayer, CaffeGraph], None]:
    """Return the translator of a layer without parameters to one ONNX operator."""

    def translate(layer: CaffeLayer, net: CaffeGraph) -> None:
        for name in ("sigmoid_param", "tanh_param", "relu_param"):  # which engine computes it
            layer.fields.message(name)
        net.add(layer, op_type, layer.inputs, net.shape(layer))

    return translate


def relu(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add Relu, or LeakyRelu for a negative slope."""
    if slope := _slope(layer):
        net.add(layer, "LeakyRelu", layer.inputs, net.shape(layer), alpha=slope)
    else:
        net.add(layer, "Relu", layer.inputs, net.shape(layer))


def relu6(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a Clip to 0..6, the ReLU6 of forks of Caffe, or to 6 alone after a negative slope."""
    slope, shape = _slope(layer), net.shape(layer)
    if not slope:
        _clip(layer, net, 0.0, 6.0)
        return
    leaky = net.add(layer, "LeakyRelu", layer.inputs, shape, net.inner(layer, "leaky"), alpha=slope)
    net.add(layer, "Min", [leaky, net.constant(layer, "max", 6.0, "float32")], shape)


def _slope(layer: CaffeLayer) -> float:
    return float(layer.fields.message("relu_param").value("negative_slope", 0.0))


def clip(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Clip."""
    fields = layer.fields.message("clip_param")
    if not (fields.has("min") and fields.has("max")):
        raise layer.error("it needs 'min' and 'max'")
    _clip(layer, net, fields.value("min", 0.0), fields.value("max", 0.0))


def _clip(layer: CaffeLayer, net: CaffeGraph, least: float, most: float) -> None:
    bounds = [net.constant(layer, *bound, "float32") for bound in (("min", least), ("max", most))]
    net.add(layer, "Clip", [layer.inputs[0], *bounds], net.shape(layer))


def prelu(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add PRelu with a slope per channel, or one for all channels."""
    shape = net.shape(layer)
    shared = layer.fields.message("prelu_param").value("channel_shared", False)
    if len(shape) < 2:
        raise layer.error("its input has no channels")
    slopes = (1,) if shared else (shape[1], *(1,) * (len(shape) - 2))
    net.add(layer, "PRelu", [layer.inputs[0], net.weight(layer, 0, "slopes", slopes)], shape)


def elu(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Elu."""
    alpha = layer.fields.message("elu_param").value("alpha", 1.0)
    net.add(layer, "Elu", layer.inputs, net.shape(layer), alpha=alpha)


def swish(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add x * sigmoid(beta * x)."""
    beta, data = layer.fields.message("swish_param").value("beta", 1.0), layer.inputs[0]
    scaled = data if beta == 1 else net.numbers(layer, "Mul", data, "scaled", beta)
    shape = net.shape(layer)
    gate = net.add(layer, "Sigmoid", [scaled], shape, net.inner(layer, "gate"))
    net.add(layer, "Mul", [data, gate], shape)


def power(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add (shift + scale * x) ^ power, without steps that change nothing."""
    fields = layer.fields.message("power_param")
    steps = (
        ("Mul", fields.value("scale", 1.0), 1.0),
        ("Add", fields.value("shift", 0.0), 0.0),
        ("Pow", fields.value("power", 1.0), 1.0),
    )
    _steps(layer, net, layer.inputs[0], [(op, n) for op, n, neutral in steps if n != neutral])


def exponential(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add base ^ (shift + scale * x)."""
    factor, terms = _base(layer, "exp_param")
    scale, shift = factor * terms[0], factor * terms[1]
    data = _lines(layer, net, scale, shift)
    net.add(layer, "Exp", [data], net.shape(layer))


def logarithm(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add the logarithm of (shift + scale * x) to a base."""
    factor, terms = _base(layer, "log_param")
    data = _lines(layer, net, *terms)
    if factor == 1:
        net.add(layer, "Log", [data], net.shape(layer))
        return
    natural = net.add(layer, "Log", [data], net.shape(layer), net.inner(layer, "natural"))
    net.numbers(layer, "Mul", natural, None, 1 / factor)


def _base(layer: CaffeLayer, name: str) -> tuple[float, tuple[float, float]]:
    """Return the natural logarithm of the base, and (scale, shift); a base of -1 is e."""
    fields = layer.fields.message(name)
    base = fields.value("base", -1.0)
    if base != -1 and (base <= 0 or base == 1):
        raise layer.error(f"'base' is {base:g}, and must be positive and not 1, or -1 for e")
    factor = 1.0 if base == -1 else math.log(base)
    return factor, (fields.value("scale", 1.0), fields.value("shift", 0.0))


def _lines(layer: CaffeLayer, net: CaffeGraph, scale: float, shift: float) -> str:
    data = layer.inputs[0]
    if scale != 1:
        data = net.numbers(layer, "Mul", data, "scaled", scale)
    return net.numbers(layer, "Add", data, "shifted", shift) if shift else data


def _steps(layer: CaffeLayer, net: CaffeGraph, data: str, steps: list[tuple[str, float]]) -> None:
    if not steps:
        net.add(layer, "Identity", [data], net.shape(layer))
    for number, (op_type, operand) in enumerate(steps, start=1):
        role = None if number == len(steps) else f"step{number}"
        data = net.numbers(layer, op_type, data, role, operand)


def threshold(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add 1 where the input is above the threshold, else 0."""
    shape = net.shape(layer)
    limit = layer.fields.message("threshold_param").value("threshold", 0.0)
    number = net.constant(layer, "bound", limit, "float32")
    above = net.add(layer, "Greater", [layer.inputs[0], number], shape, net.inner(layer, "above"))
    net.add(layer, "Cast", [above], shape, to=1)


COUNTS = {"Axpy": (3, 1), "Eltwise": (None, 1)}
TRANSLATORS = {
    "ArgMax": arg_max,
    "Axpy": axpy,
    "Eltwise": eltwise,
    "Reduction": reduction,
    "AbsVal": plain("Abs"),
    "BNLL": plain("Softplus"),
    "Clip": clip,
    "ELU": elu,
    "Exp": exponential,
    "Log": logarithm,
    "PReLU": prelu,
    "Power": power,
    "ReLU": relu,
    "ReLU6": relu6,
    "Sigmoid": plain("Sigmoid"),
    "Swish": swish,
    "TanH": plain("Tanh"),
    "Threshold": threshold,
}
