"""Sums, products, differences, quotients, maxima and minima with broadcasting.

Elementwise functions: Relu, Clip, LeakyRelu, Sigmoid, Exp and others, and PRelu.
"""

import math
from collections.abc import Callable

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.layers import NO_CLAMP, RELU, Clamp, Elementwise, Neuron, Prelu
from hexsim.layers.elementwise import ElementwiseKind, NeuronFunction
from hexsim.onnx_io.file.axis_order import Order, channels_last, identity
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer


def elementwise(kind: ElementwiseKind) -> Callable[[OnnxNode, Importer], None]:
    """Return a translator that gives all operands the same rank and stored order."""

    def translate(node: OnnxNode, net: Importer) -> None:
        order = common_order(node.inputs, net)
        if len(node.inputs) == 1:
            net.reshape(node.name, node.input(0), net.source_shape(node.input(0)), node.output)
            return
        inputs = tuple(net.operand(name, order) for name in node.inputs)
        layer = Elementwise(name=node.name, inputs=inputs, outputs=(node.output,), kind=kind)
        net.add(layer, order)

    return translate


def divide(node: OnnxNode, net: Importer) -> None:
    """Division by a constant becomes the product with its reciprocal, others a division."""
    if not net.dtype(node.input(0)).startswith("float"):
        raise NotALayerError("integer division")
    if node.input(1) not in net.known:
        elementwise("div")(node, net)
        return
    data = net.tensor(node.input(0))
    divisor = net.array(node.input(1))
    reciprocal = net.derived(divisor.name, "reciprocal", np.reciprocal)
    order = common_order(node.inputs, net)
    net.add(
        Elementwise(
            name=node.name,
            inputs=(net.operand(data.name, order), net.operand(reciprocal, order)),
            outputs=(node.output,),
            kind="product",
        ),
        order,
    )


def common_order(names: tuple[str, ...], net: Importer) -> Order:
    """Return the common order of broadcast operands: channels last if one of them has it."""
    rank = max(len(net.source_shape(name)) for name in names)
    orders = [net.order(n) for n in names if n in net.tensors and len(net.order(n)) == rank]
    if channels_last(rank) in orders:
        return channels_last(rank)
    return orders[0] if orders else identity(rank)


_UNBOUNDED = float(np.finfo(np.float32).max)
"""The largest float32, which Clip of old opsets has in place of a missing bound."""

_POWERS: dict[float, NeuronFunction] = {
    2.0: "square",
    0.5: "sqrt",
    -0.5: "rsqrt",
    -1.0: "reciprocal",
}


def relu(node: OnnxNode, net: Importer) -> None:
    """Relu becomes a clamp at zero."""
    _add(node, net, "clamp", clamp=RELU)


def clip(node: OnnxNode, net: Importer) -> None:
    """Clip becomes a clamp, or maximum and minimum of computed bounds.

    Bounds are attributes before opset 11, inputs since.
    """
    if any(name in net.tensors for name in node.inputs[1:3]):
        _clip_by_tensors(node, net)
        return
    low = _bound(node, net, "min", 1, -math.inf)
    high = _bound(node, net, "max", 2, math.inf)
    if low == math.inf or high == -math.inf:
        raise NotALayerError("its bounds make every number infinite")
    _add(node, net, "clamp", clamp=Clamp(min(low, high), high))


def _clip_by_tensors(node: OnnxNode, net: Importer) -> None:
    """Add the maximum with the lower bound, then the minimum with the upper one."""
    kinds: dict[ElementwiseKind, str] = {"max": node.input(1), "min": node.input(2)}
    bounds = [(kind, name) for kind, name in kinds.items() if name]
    data, (last, _) = net.tensor(node.input(0)), bounds[-1]
    source = data.name
    for kind, name in bounds:
        if math.prod(net.source_shape(name)) != 1:
            raise InvalidDataError(f"its bound '{name}' is not one number")
        label = node.name if kind == last else net.unique(f"{node.name}.{kind}")
        result = node.output if kind == last else label
        inputs = (source, net.operand(name, data.order))
        net.add(Elementwise(name=label, inputs=inputs, outputs=(result,), kind=kind), data.order)
        source = result


def function(
    kind: NeuronFunction, alpha: float = 0.0, beta: float = 0.0
) -> Callable[[OnnxNode, Importer], None]:
    """An activation with its ONNX attributes; `alpha` and `beta` are their defaults."""

    def translate(node: OnnxNode, net: Importer) -> None:
        _add(node, net, kind, alpha=node.real("alpha", alpha), beta=node.real("beta", beta))

    return translate


def real_function(kind: NeuronFunction) -> Callable[[OnnxNode, Importer], None]:
    """Return the translator of a function of real numbers; integers are not supported."""

    def translate(node: OnnxNode, net: Importer) -> None:
        _require_real(node, net)
        _add(node, net, kind)

    return translate


def gelu(node: OnnxNode, net: Importer) -> None:
    """Translate Gelu in the form given by `approximate`."""
    _add(node, net, "gelu_tanh" if node.text("approximate", "none") == "tanh" else "gelu")


def swish(node: OnnxNode, net: Importer) -> None:
    """Swish is x * sigmoid(alpha * x)."""
    _add(node, net, "silu", alpha=node.real("alpha", 1.0))


def power(node: OnnxNode, net: Importer) -> None:
    """Translate Pow with one constant exponent; some exponents have their own functions."""
    _require_real(node, net)
    exponent = net.array(node.input(1))
    if math.prod(exponent.shape) != 1 or len(exponent.shape) > len(net.tensor(node.input(0)).shape):
        raise NotALayerError("the exponent is not one number")
    value = float(exponent.read().item())
    kind = _POWERS.get(value)
    if value == 1:
        _add(node, net, "clamp")
    elif kind is not None:
        _add(node, net, kind)
    else:
        _add(node, net, "pow", alpha=value)


def prelu(node: OnnxNode, net: Importer) -> None:
    """Translate PRelu with one constant slope per channel, or one for all channels."""
    data = net.tensor(node.input(0))
    rank, axes = len(data.shape), len(net.source_shape(node.input(1)))
    if axes > rank:
        raise InvalidDataError(f"its slope has {axes} axes, and its input {rank}")
    slope = net.array(node.input(1))
    shape = (1,) * (rank - len(slope.shape)) + slope.shape
    channels = data.source_shape[1] if rank > 1 else 1
    if rank < 2 or math.prod(shape) not in (1, channels) or shape[1] != math.prod(shape):
        raise NotALayerError("slopes are not one per channel")
    net.add(
        Prelu(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
            slope=net.constant(
                slope.name,
                f"slope_{channels}",
                (channels,),
                lambda array: np.broadcast_to(array.reshape(-1), (channels,)),
            ),
        ),
        channels_last(rank),
    )


def _require_real(node: OnnxNode, net: Importer) -> None:
    if not net.tensor(node.input(0)).dtype.startswith("float"):
        raise NotALayerError("a function of integers")


def _bound(node: OnnxNode, net: Importer, name: str, position: int, default: float) -> float:
    value = node.real(name, default)
    if node.input(position):
        value = net.number(node.input(position))
    return math.copysign(math.inf, value) if abs(value) >= _UNBOUNDED else float(value)


def _add(
    node: OnnxNode,
    net: Importer,
    kind: NeuronFunction,
    clamp: Clamp = NO_CLAMP,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> None:
    data = net.tensor(node.input(0))
    net.add(
        Neuron(
            name=node.name,
            inputs=(data.name,),
            outputs=(node.output,),
            function=kind,
            clamp=clamp,
            alpha=alpha,
            beta=beta,
        ),
        data.order,
    )


TRANSLATORS = {
    "Add": elementwise("sum"),
    "Sum": elementwise("sum"),
    "Mul": elementwise("product"),
    "Sub": elementwise("sub"),
    "Max": elementwise("max"),
    "Min": elementwise("min"),
    "Div": divide,
    "Relu": relu,
    "Clip": clip,
    "LeakyRelu": function("leaky_relu", alpha=0.01),
    "Elu": function("elu", alpha=1.0),
    "HardSigmoid": function("hard_sigmoid", alpha=0.2, beta=0.5),
    "HardSwish": function("hard_swish"),
    "Sigmoid": function("sigmoid"),
    "Tanh": function("tanh"),
    "PRelu": prelu,
    "Abs": real_function("abs"),
    "Ceil": real_function("ceil"),
    "Cos": real_function("cos"),
    "Erf": real_function("erf"),
    "Exp": real_function("exp"),
    "Floor": real_function("floor"),
    "Gelu": gelu,
    "Log": real_function("log"),
    "Mish": real_function("mish"),
    "Neg": real_function("neg"),
    "Pow": power,
    "Reciprocal": real_function("reciprocal"),
    "Round": real_function("round"),
    "Sin": real_function("sin"),
    "Softplus": real_function("softplus"),
    "Softsign": real_function("softsign"),
    "Sqrt": real_function("sqrt"),
    "Swish": swish,
}
