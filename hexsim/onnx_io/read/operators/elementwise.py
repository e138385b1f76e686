"""Arithmetic with broadcasting, functions of single elements, and reductions along axes.

Norms and logarithms of sums are expanded (hexsim.onnx_io.read.expansions.fused_operators).
ReduceProd is not supported, since no integer kernel is known. ArgMax and ArgMin become a layer that
returns positions as floats, then a Cast on the CPU.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import onnx

from hexsim import layers
from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Tensor
from hexsim.layers.elementwise import ElementwiseKind, NeuronFunction
from hexsim.layers.reduce import ReduceKind
from hexsim.onnx_io.file.axis_order import Order, channels_last, identity, without
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer


def elementwise(kind: ElementwiseKind) -> Callable[[OnnxNode, Importer], None]:
    """Return a translator that gives all operands the same rank and stored order."""

    def translate(node: OnnxNode, net: Importer) -> None:
        order = common_order(node.inputs, net)
        if len(node.inputs) == 1:
            net.reshape(node.name, node.input(0), net.source_shape(node.input(0)), node.output)
            return
        inputs = tuple(net.operand(name, order) for name in node.inputs)
        layer = layers.Elementwise(*node.ends(*inputs), kind=kind)
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
        layers.Elementwise(
            *node.ends(net.operand(data.name, order), net.operand(reciprocal, order)),
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
    _add(node, net, "clamp", clamp=layers.RELU)


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
    _add(node, net, "clamp", clamp=layers.Clamp(min(low, high), high))


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
        net.add(layers.Elementwise(label, inputs, (result,), kind=kind), data.order)
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
        layers.Prelu(
            *node.ends(net.channels_last(data.name)),
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
    clamp: layers.Clamp = layers.NO_CLAMP,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> None:
    data = net.tensor(node.input(0))
    net.add(
        layers.Neuron(*node.ends(data.name), function=kind, clamp=clamp, alpha=alpha, beta=beta),
        data.order,
    )


def reduction(kind: ReduceKind) -> Callable[[OnnxNode, Importer], None]:
    """Return the translator to Reduce and, without keepdims, a Reshape.

    The mean of an image becomes a pooling.
    """

    def translate(node: OnnxNode, net: Importer) -> None:
        _add_reduction(node, net, kind, node.input(0))

    return translate


def sum_of_squares(node: OnnxNode, net: Importer) -> None:
    """Translate to the product of the tensor with itself, and its sum."""
    data = net.tensor(node.input(0))
    _axes(node, net)
    square, label = net.unique(f"{node.output}.square"), f"{node.name}.square"
    net.put(layers.Elementwise, label, [data.name] * 2, data.order, square, kind="product")
    _add_reduction(node, net, "sum", square)


def _add_reduction(node: OnnxNode, net: Importer, kind: ReduceKind, name: str) -> None:
    """Add the reduction of tensor `name` along the axes of the node, and its Reshape."""
    data, axes = net.tensor(name), _axes(node, net)
    if not axes:
        net.reshape(node.name, name, data.source_shape, node.output)
        return
    keeps_axes = bool(node.integer("keepdims", 1))
    result = node.output if keeps_axes else net.unique(f"{node.output}.reduced")
    if kind == "mean" and len(data.shape) == 4 and axes == (2, 3):
        _, _, height, width = data.source_shape
        pooling = layers.Pooling(
            node.name,
            (net.channels_last(name),),
            (result,),
            kind="average",
            window=layers.Window((height, width)),
        )
        net.add(pooling, channels_last(4))
    else:
        stored = tuple(sorted(data.order.index(axis) for axis in axes))
        layer = layers.Reduce(node.name, (name,), (result,), kind=kind, axes=stored)
        net.add(layer, data.order)
    if not keeps_axes:
        target = (size for axis, size in enumerate(data.source_shape) if axis not in axes)
        net.reshape(net.unique(f"{node.name}.squeeze"), result, tuple(target), node.output)


def _axes(node: OnnxNode, net: Importer) -> tuple[int, ...]:
    """Return the sorted source axes; without any all of them, or none by noop_with_empty_axes."""
    data = net.tensor(node.input(0))
    if data.dtype != "float32":
        raise NotALayerError("does not reduce float32")
    rank = len(data.shape)
    given_axes = net.integers(node, "axes", 1) or ()
    if not given_axes:
        return () if node.integer("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted({positive_axis(axis, rank) for axis in given_axes}))


def arg_extremum(kind: Literal["max", "min"]) -> Callable[[OnnxNode, Importer], None]:
    """Return the translator to the first position along an axis; the last is not supported."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0))
        if data.dtype != "float32" or not data.shape:
            raise NotALayerError("does not search an axis of float32")
        if node.integer("select_last_index", 0):
            raise NotALayerError("takes the last of equal numbers")
        axis = positive_axis(node.integer("axis", 0), len(data.shape))
        keeps_axis = bool(node.integer("keepdims", 1))
        place = net.unique(f"{node.output}.place")
        layer = layers.ArgExtremum(
            node.name,
            (data.name,),
            (place,),
            kind=kind,
            axis=data.order.index(axis),
            keeps_axis=keeps_axis,
        )
        net.add(layer, data.order if keeps_axis else without(axis, data.order))
        _cast(node, net, place)

    return translate


def _cast(node: OnnxNode, net: Importer, place: str) -> None:
    """Cast the positions to integers, in the same order."""
    places = net.tensors[place]
    proto = onnx.helper.make_node("Cast", [place], [node.output], to=onnx.TensorProto.INT64)
    layer = layers.Opaque(
        net.unique(f"{node.name}.cast"),
        (place,),
        (node.output,),
        op_type="Cast",
        node=proto.SerializeToString(deterministic=True),
        opset=node.opset,
        shapes=(places.shape,),
        operations=math.prod(places.shape),
    )
    net.add_with(layer, [Tensor(node.output, places.shape, places.order, "int64")])


_OF_REAL_NUMBERS: tuple[NeuronFunction, ...] = (
    *("abs", "ceil", "cos", "erf", "exp", "floor", "log", "mish", "neg", "reciprocal", "round"),
    *("sin", "softplus", "softsign", "sqrt"),
)
"""Functions of real numbers whose operator has the same name."""
TRANSLATORS = {
    **{kind.capitalize(): real_function(kind) for kind in _OF_REAL_NUMBERS},
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
    "Gelu": gelu,
    "Pow": power,
    "Swish": swish,
    "ReduceMax": reduction("max"),
    "ReduceMean": reduction("mean"),
    "ReduceMin": reduction("min"),
    "ReduceSum": reduction("sum"),
    "ReduceSumSquare": sum_of_squares,
    "ArgMax": arg_extremum("max"),
    "ArgMin": arg_extremum("min"),
}
