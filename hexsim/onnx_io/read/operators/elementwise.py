"""Sums, products, differences, quotients, maxima and minima with broadcasting."""

from collections.abc import Callable

import numpy as np

from hexsim.layers import Elementwise
from hexsim.layers.elementwise import ElementwiseKind
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


TRANSLATORS = {
    "Add": elementwise("sum"),
    "Sum": elementwise("sum"),
    "Mul": elementwise("product"),
    "Sub": elementwise("sub"),
    "Max": elementwise("max"),
    "Min": elementwise("min"),
    "Div": divide,
}
