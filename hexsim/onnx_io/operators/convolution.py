"""Conv: 2-D with constant weights."""

from __future__ import annotations

from hexsim.layers import Convolution
from hexsim.onnx_io.axis_order import channels_last
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.node import Node, NotALayerError
from hexsim.onnx_io.operators._windows import read_window


def conv(node: Node, net: Importer) -> None:
    """Conv becomes Convolution; the weight O x I x H x W becomes H x W x I x O."""
    data = net.tensor(node.input(0), rank=4)
    weight = net.array(node.input(1))
    bias = net.array(node.input(2)) if node.input(2) else None
    if len(weight.shape) != 4:
        raise ValueError(f"the weight has shape {list(weight.shape)}, expected four axes")
    outputs, inputs, height, width = weight.shape
    kernel = node.integers("kernel_shape") or (height, width)
    if kernel != (height, width):
        raise ValueError(f"kernel_shape {list(kernel)} does not fit weight {list(weight.shape)}")
    groups = node.integer("group", 1)
    _, channels, *size = data.source_shape
    if channels != inputs * groups or outputs % groups:
        raise ValueError(
            f"weight {list(weight.shape)} with group {groups} does not fit {channels} channels"
        )
    if bias is not None and bias.shape != (outputs,):
        raise NotALayerError("bias is not one number per output channel")
    window = read_window(node, (height, width), (size[0], size[1]))
    net.add(
        Convolution(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
            weight=net.constant(
                weight.name,
                "hwio",
                (height, width, inputs, outputs),
                lambda array: array.transpose(2, 3, 1, 0),
            ),
            bias=net.as_is(bias.name) if bias is not None else None,
            window=window,
            groups=groups,
            output_channels=outputs,
        ),
        channels_last(4),
    )


TRANSLATORS = {"Conv": conv}
