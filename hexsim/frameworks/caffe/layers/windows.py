"""Layers with windows, and InnerProduct.

Pooling: maximum or average; the last window may extend beyond the image.
"""

import math
from typing import Any

from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import axis_of, image, sliding


def convolution(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a Conv; a last window that does not fit into the image is dropped."""
    _filter(layer, net, transposed=False, depthwise=False)


def depthwise(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a Conv with a group per channel, a layer of many forks of Caffe."""
    _filter(layer, net, transposed=False, depthwise=True)


def deconvolution(layer: CaffeLayer, net: CaffeGraph) -> None:
    """ConvTranspose."""
    _filter(layer, net, transposed=True, depthwise=False)


def _filter(layer: CaffeLayer, net: CaffeGraph, *, transposed: bool, depthwise: bool) -> None:
    fields = layer.fields.message("convolution_param")
    batch, channels, height, width = image(layer, net)
    window = sliding(fields, dilated=True)
    count = fields.positive("num_output")
    group = fields.positive("group", channels if depthwise else 1)
    fields.value("force_nd_im2col", False)
    if axis_of(layer, fields.value("axis", 1), 4) != 1:
        raise layer.error("'axis' must be 1, that of the channels")
    if channels % group or count % group:
        raise layer.error(f"{group} groups divide neither {channels} channels into {count}")
    sizes = []
    for size, kernel, stride, pad in zip(
        (height, width), window.reach, window.strides, window.pads, strict=True
    ):
        if transposed:
            sizes.append((size - 1) * stride + kernel - 2 * pad)
        elif size + 2 * pad < kernel:
            raise layer.error(f"its window spans {kernel} pixels of {size} with pads of {pad}")
        else:
            sizes.append((size + 2 * pad - kernel) // stride + 1)
    channel_axes = (channels, count // group) if transposed else (count, channels // group)
    inputs = [layer.inputs[0], net.weight(layer, 0, "weights", (*channel_axes, *window.kernel))]
    if fields.value("bias_term", True):
        inputs.append(net.weight(layer, 1, "bias", (count,)))
    net.add(
        layer,
        "ConvTranspose" if transposed else "Conv",
        inputs,
        (batch, count, *sizes),
        **window.attributes,
        dilations=list(window.dilations),
        group=group,
    )


def inner_product(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add Flatten and Gemm; the axes before `axis` stay."""
    fields = layer.fields.message("inner_product_param")
    shape = net.shape(layer)
    axis = axis_of(layer, fields.value("axis", 1), len(shape))
    count, length = fields.positive("num_output"), math.prod(shape[axis:])
    transposed = fields.value("transpose", False)
    rows = (math.prod(shape[:axis]), length)
    data = layer.inputs[0]
    if shape != rows:
        data = net.add(layer, "Flatten", [data], rows, net.inner(layer, "rows"), axis=axis)
    weight_shape = (length, count) if transposed else (count, length)
    inputs = [data, net.weight(layer, 0, "weights", weight_shape)]
    if fields.value("bias_term", True):
        inputs.append(net.weight(layer, 1, "bias", (count,)))
    output, out_shape = layer.outputs[0], (*shape[:axis], count)
    if axis == 1:
        net.add(layer, "Gemm", inputs, out_shape, output, transB=int(not transposed))
        return
    product = net.inner(layer, "product")
    net.add(layer, "Gemm", inputs, (rows[0], count), product, transB=int(not transposed))
    net.add(
        layer, "Reshape", [product, net.constant(layer, "shape", out_shape, "int64")], out_shape
    )


def pooling(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add MaxPool, AveragePool or their global forms.

    Sizes are rounded up unless `round_mode` is FLOOR. An average counts the padding, but not the
    pixels beyond it that rounding up adds.
    """
    fields = layer.fields.message("pooling_param")
    batch, channels, height, width = image(layer, net)
    kind = fields.value("pool", "MAX")
    if kind == "STOCHASTIC":
        raise layer.error("stochastic pooling is not supported; phones do not have it")
    average = kind == "AVE"
    rounds_up = fields.value("round_mode", "CEIL") == "CEIL"
    if fields.value("global_pooling", False):
        for name in ("kernel_size", "kernel_h", "kernel_w"):
            if fields.has(name):
                raise layer.error(f"a global pooling has no '{name}'")
        neutral = fields.value("stride", 1) == 1 and fields.value("pad", 0) == 0
        if not neutral:
            raise layer.error("a global pooling has a stride of 1 and no pads")
        op_type = "GlobalAveragePool" if average else "GlobalMaxPool"
        net.add(layer, op_type, layer.inputs, (batch, channels, 1, 1))
        return
    window = sliding(fields, dilated=False)
    sizes = []
    for size, kernel, stride, pad in zip(
        (height, width), window.kernel, window.strides, window.pads, strict=True
    ):
        if pad >= kernel:
            raise layer.error(f"its pads of {pad} are not smaller than its windows of {kernel}")
        room = size + 2 * pad - kernel
        if room < 0:
            raise layer.error(f"its window spans {kernel} pixels of {size} with pads of {pad}")
        count = (-(-room // stride) if rounds_up else room // stride) + 1
        if rounds_up and pad and (count - 1) * stride >= size + pad:
            count -= 1
        if (count - 1) * stride >= size + pad:
            raise layer.error("its last window begins beyond the image; use a smaller stride")
        sizes.append(count)
    average_attributes: dict[str, Any] = {"count_include_pad": 1} if average else {}
    net.add(
        layer,
        "AveragePool" if average else "MaxPool",
        layer.inputs,
        (batch, channels, *sizes),
        **window.attributes,
        ceil_mode=int(rounds_up),
        **average_attributes,
    )


TRANSLATORS = {
    "Convolution": convolution,
    "ConvolutionDepthwise": depthwise,
    "DepthwiseConvolution": depthwise,
    "Deconvolution": deconvolution,
    "InnerProduct": inner_product,
    "Pooling": pooling,
}
