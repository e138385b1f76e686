"""Conv and ConvTranspose with constant weights, in one, two and three dimensions.

MaxPool, AveragePool and their global forms, in one, two and three dimensions.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Tensor
from hexsim.layers import Convolution, Deconvolution, Pooling, Window
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators import _dimensions
from hexsim.onnx_io.read.operators._dimensions import (
    also_1d,
    also_3d,
    pair,
    pooling,
    pooling_all,
    read_pads,
    read_window,
    require_positive,
    with_height,
)


def conv(node: OnnxNode, net: Importer) -> None:
    """Conv becomes Convolution; the weight O x I x H x W becomes H x W x I x O."""
    data, weight, groups = _operands(node, net)
    weight_shape = with_height(weight.shape)
    outputs, inputs, height, width = weight_shape
    _, channels, *size = data.source_shape
    if channels != inputs * groups or outputs % groups:
        raise _misfit(weight, groups, channels)
    bias = _bias(node, net, outputs)
    window = read_window(node, (height, width), (size[0], size[1]))
    net.add(
        Convolution(
            *node.ends(net.channels_last(data.name)),
            weight=net.constant(
                weight.name,
                "hwio",
                (height, width, inputs, outputs),
                lambda array: array.reshape(weight_shape).transpose(2, 3, 1, 0),
            ),
            bias=bias,
            window=window,
            groups=groups,
            output_channels=outputs,
        ),
        channels_last(4),
    )


def conv_transpose(node: OnnxNode, net: Importer) -> None:
    """ConvTranspose becomes Deconvolution; I x O / groups x H x W becomes H x W x I / groups x O.

    Pads that crop more than a window, and negative pads, are not supported.
    """
    data, weight, groups = _operands(node, net)
    inputs, outputs, height, width = with_height(weight.shape)
    _, channels, *size = data.source_shape
    if channels != inputs or inputs % groups:
        raise _misfit(weight, groups, channels)
    bias = _bias(node, net, outputs * groups)
    require_positive(pair(node, "strides", 1), pair(node, "dilations", 1), (height, width))
    window = Window((height, width), pair(node, "strides", 1), (0,) * 4, pair(node, "dilations", 1))
    extra = pair(node, "output_padding", 0)
    window = replace(window, pads=_cropped(node, window, extra, (size[0], size[1])))
    if any(pad >= reach for pad, reach in zip(window.pads, window.reach * 2, strict=True)):
        raise NotALayerError("crops more than a window")
    if min(window.pads) < 0 or any(
        added >= max(step, dilation)
        for added, step, dilation in zip(extra, window.strides, window.dilations, strict=True)
    ):
        raise NotALayerError("extends the output")

    shape = (height, width, inputs // groups, groups * outputs)

    def last_is_output(array: Array) -> Array:
        parts = array.reshape(groups, inputs // groups, outputs, height, width)
        return parts.transpose(3, 4, 1, 0, 2).reshape(shape)

    net.add(
        Deconvolution(
            *node.ends(net.channels_last(data.name)),
            weight=net.constant(weight.name, f"hwio_{groups}", shape, last_is_output),
            bias=bias,
            window=window,
            output_padding=extra,
            groups=groups,
            output_channels=groups * outputs,
        ),
        channels_last(4),
    )


def _operands(node: OnnxNode, net: Importer) -> tuple[Tensor, Known, int]:
    data = net.tensor(node.input(0), rank=4)
    weight = net.array(node.input(1))
    weight_shape = with_height(weight.shape)
    if len(weight_shape) != 4:
        raise InvalidDataError(f"the weight has shape {list(weight.shape)}, expected four axes")
    kernel = node.integers("kernel_shape") or weight_shape[2:]
    if kernel != weight_shape[2:]:
        raise InvalidDataError(
            f"kernel_shape {list(kernel)} does not fit weight {list(weight.shape)}"
        )
    groups = node.integer("group", 1)
    if groups < 1:
        raise InvalidDataError(f"group is {groups}, and must be at least 1")
    return data, weight, groups


def _misfit(weight: Known, groups: int, channels: int) -> InvalidDataError:
    return InvalidDataError(
        f"weight {list(weight.shape)} with group {groups} does not fit {channels} channels"
    )


def _bias(node: OnnxNode, net: Importer, outputs: int) -> str | None:
    if not node.input(2):
        return None
    bias = net.array(node.input(2))
    if bias.shape != (outputs,):
        raise NotALayerError("bias is not one number per output channel")
    return net.as_is(bias.name)


def _cropped(
    node: OnnxNode, window: Window, extra: tuple[int, int], size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Return the rows and columns that a ConvTranspose crops (top, left, bottom, right)."""
    mode = node.text("auto_pad", "NOTSET")
    output_shape = node.integers("output_shape")
    if output_shape is None and mode not in ("SAME_UPPER", "SAME_LOWER"):
        return read_pads(node)
    sizes = output_shape or tuple(n * step for n, step in zip(size, window.strides, strict=True))
    begins, ends = [], []
    for axis, length in enumerate(sizes[-2:]):
        uncut = (size[axis] - 1) * window.strides[axis] + window.reach[axis] + extra[axis]
        total = uncut - length
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return begins[0], begins[1], ends[0], ends[1]


Kind = Literal["max", "average"]


def windowed(kind: Kind) -> Callable[[OnnxNode, Importer], None]:
    """MaxPool and AveragePool become Pooling, unless the indices of the maxima are used."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0), rank=4)
        if any(net.facts.uses[name] for name in node.outputs[1:]):
            raise NotALayerError("indices are used")
        kernel = node.integers("kernel_shape") or ()
        if len(kernel) != 2:
            raise InvalidDataError(f"kernel_shape {list(kernel)} does not fit an image")
        height, width = data.source_shape[2:]
        window = read_window(node, (kernel[0], kernel[1]), (height, width))
        if kind == "average" and window.dilations != (1, 1):
            raise NotALayerError("dilated average")
        padded = bool(node.integer("count_include_pad", 0))
        _add(node, net, data, kind, window, node.output, padded)

    return translate


def whole_image(kind: Kind) -> Callable[[OnnxNode, Importer], None]:
    """GlobalMaxPool and GlobalAveragePool become a Pooling as large as the image."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0), rank=4)
        height, width = data.source_shape[2:]
        _add(node, net, data, kind, Window((height, width)), node.output)

    return translate


def _add(
    node: OnnxNode,
    net: Importer,
    data: Tensor,
    kind: Kind,
    window: Window,
    output: str,
    count_include_pad: bool = False,
) -> None:
    net.add(
        Pooling(
            node.name,
            (net.channels_last(data.name),),
            (output,),
            kind=kind,
            window=window,
            count_include_pad=count_include_pad,
        ),
        channels_last(4),
    )


TRANSLATORS = {
    "Conv": also_1d(also_3d(_dimensions.convolution, conv)),
    "ConvTranspose": also_1d(also_3d(_dimensions.deconvolution, conv_transpose)),
    "MaxPool": also_1d(also_3d(pooling, windowed("max"))),
    "AveragePool": also_1d(also_3d(pooling, windowed("average"))),
    "GlobalMaxPool": also_1d(also_3d(pooling_all, whole_image("max"))),
    "GlobalAveragePool": also_1d(also_3d(pooling_all, whole_image("average"))),
}
