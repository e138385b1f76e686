"""BatchNorm, Scale, Bias, LRN, MVN, Normalize and Softmax."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from hexsim.frameworks.caffe.blobs import Blob
from hexsim.frameworks.caffe.description import CaffeLayer, Shape
from hexsim.frameworks.caffe.graph import Array, CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import axis_of, broadcast, image, require_counts


def batch_norm(layer: CaffeLayer, net: CaffeGraph) -> None:
    """BatchNormalization without gamma and beta; stored sums are divided by the stored factor."""
    require_counts(layer)
    given = layer.fields.message("batch_norm_param")
    if not given.value("use_global_stats", True):
        raise layer.error("it normalises by each batch ('use_global_stats: false'), as in training")
    given.value("moving_average_fraction", 0.999)
    epsilon = given.value("eps", 1e-5)
    shape = net.shape(layer)
    channels = shape[1:2] or (1,)
    net.blob(layer, 2)  # without which the sums mean nothing
    mean, variance = (
        net.promise(
            layer, what, channels, partial(_averaged, *_checked(layer, net, at, channels), channels)
        )
        for at, what in enumerate(("mean", "variance"))
    )
    one, zero = _neutral(layer, net, channels)
    inputs = [layer.inputs[0], one, zero, mean, variance]
    net.add(layer, "BatchNormalization", inputs, shape, epsilon=epsilon)


def _checked(layer: CaffeLayer, net: CaffeGraph, at: int, channels: Shape) -> tuple[Blob, Blob]:
    sums, factor = net.blob(layer, at), net.blob(layer, 2)
    if math.prod(sums.shape) != channels[0] or math.prod(factor.shape) != 1:
        raise layer.error(
            f"its blobs hold {math.prod(sums.shape)} and {math.prod(factor.shape)} numbers, not "
            f"{channels[0]} and 1"
        )
    return sums, factor


def _averaged(sums: Blob, factor: Blob, shape: Shape) -> Array:
    weight = float(factor.read().reshape(-1)[0])
    return sums.read().reshape(shape) * np.float32(0.0 if weight == 0 else 1.0 / weight)


def _neutral(layer: CaffeLayer, net: CaffeGraph, channels: Shape) -> tuple[str, str]:
    """Ones and zeros."""
    ones = net.promise(layer, "ones", channels, partial(np.ones, channels, np.float32))
    zeros = net.promise(layer, "zeros", channels, partial(np.zeros, channels, np.float32))
    return ones, zeros


def scale(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Mul and, with `bias_term`, Add; behind a BatchNorm its gamma and beta."""
    require_counts(layer, None)
    given = layer.fields.message("scale_param")
    biased, axis, count = (
        given.value("bias_term", False), given.value("axis", 1), given.value("num_axes", 1)
    )  # fmt: skip
    shape = net.shape(layer)
    writer = net.writers.get(layer.inputs[0])
    axis = axis_of(layer, axis, len(shape))
    if (
        len(layer.inputs) == 1
        and writer is not None
        and writer.type == "BatchNorm"
        and ((axis, count) == (1, 1) and len(shape) > 1)
    ):
        gamma = net.weight(layer, 0, "gamma", shape[1:2])
        one, zero = _neutral(layer, net, shape[1:2])
        beta = net.weight(layer, 1, "beta", shape[1:2]) if biased else zero
        inputs = [layer.inputs[0], gamma, beta, zero, one]
        net.add(layer, "BatchNormalization", inputs, shape, epsilon=0.0)
        return
    factor, inner = _operand(layer, net, axis, count, "factors")
    if not biased:
        net.add(layer, "Mul", [layer.inputs[0], factor], shape)
        return
    product = net.add(layer, "Mul", [layer.inputs[0], factor], shape, net.inner(layer, "product"))
    at = 0 if len(layer.inputs) == 2 else 1
    bias = net.weight(layer, at, "bias", broadcast(inner, axis, len(shape)))
    net.add(layer, "Add", [product, bias], shape)


def bias(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add of a blob, or of a second bottom."""
    require_counts(layer, None)
    given = layer.fields.message("bias_param")
    shape = net.shape(layer)
    axis = axis_of(layer, given.value("axis", 1), len(shape))
    operand, _ = _operand(layer, net, axis, given.value("num_axes", 1), "bias")
    net.add(layer, "Add", [layer.inputs[0], operand], shape)


def _operand(
    layer: CaffeLayer, net: CaffeGraph, axis: int, count: int, what: str
) -> tuple[str, Shape]:
    """What stands beside the data from `axis` on, a blob or the second bottom, and its shape."""
    shape, rank = net.shape(layer), len(net.shape(layer))
    if len(layer.inputs) > 2:
        raise layer.error(f"it has {len(layer.inputs)} bottoms, and takes one or two")
    if len(layer.inputs) == 1:
        end = rank if count == -1 else axis + count
        if count < -1 or end > rank:
            raise layer.error(f"'num_axes' is {count}, and {rank - axis} axes follow")
        inner = shape[axis:end]
        return net.weight(layer, 0, what, broadcast(inner, axis, rank)), inner
    inner = net.shape(layer, 1)
    if shape[axis : axis + len(inner)] != inner:
        raise layer.error(f"its second input has the shape {list(inner)}, its first {list(shape)}")
    whole = broadcast(inner, axis, rank)
    if whole == inner:
        return layer.inputs[1], inner
    target = net.constant(layer, "shape", whole, "int64")
    name = net.inner(layer, "operand")
    return net.add(layer, "Reshape", [layer.inputs[1], target], whole, name), inner


def lrn(layer: CaffeLayer, net: CaffeGraph) -> None:
    """LRN across channels; within channels squares are averaged over a window of the image."""
    require_counts(layer)
    given = layer.fields.message("lrn_param")
    size, alpha, beta = (
        given.positive("local_size", 5), given.value("alpha", 1.0), given.value("beta", 0.75)
    )  # fmt: skip
    across = given.value("norm_region", "ACROSS_CHANNELS")
    bias, shape = given.value("k", 1.0), image(layer, net)
    if size % 2 == 0:
        raise layer.error(f"'local_size' is {size}, and must be odd")
    if across == "ACROSS_CHANNELS":
        net.add(layer, "LRN", layer.inputs, shape, size=size, alpha=alpha, beta=beta, bias=bias)
        return
    pads, data = [(size - 1) // 2] * 4, layer.inputs[0]
    squares = net.add(layer, "Mul", [data, data], shape, net.inner(layer, "squares"))
    means = net.add(
        layer, "AveragePool", [squares], shape, net.inner(layer, "means"),
        kernel_shape=[size, size], strides=[1, 1], pads=pads, count_include_pad=1,
    )  # fmt: skip
    scaled = net.numbers(layer, "Mul", means, "scaled", alpha)
    lifted = net.numbers(layer, "Add", scaled, "lifted", 1.0)
    factors = net.numbers(layer, "Pow", lifted, "factors", -beta)
    net.add(layer, "Mul", [data, factors], shape)


def mvn(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Mean taken off and, unless told not to, divided by the deviation plus `eps`."""
    require_counts(layer)
    given = layer.fields.message("mvn_param")
    shape = image(layer, net)
    axes = [1, 2, 3] if given.value("across_channels", False) else [2, 3]
    divides, epsilon = given.value("normalize_variance", True), given.value("eps", 1e-9)
    few = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    data = layer.inputs[0]
    mean = net.add(layer, "ReduceMean", [data], few, net.inner(layer, "mean"), axes=axes)
    if not divides:
        net.add(layer, "Sub", [data, mean], shape)
        return
    centred = net.add(layer, "Sub", [data, mean], shape, net.inner(layer, "centred"))
    squares = net.add(layer, "Mul", [centred, centred], shape, net.inner(layer, "squares"))
    variance = net.add(layer, "ReduceMean", [squares], few, net.inner(layer, "variance"), axes=axes)
    root = net.add(layer, "Sqrt", [variance], few, net.inner(layer, "deviation"))
    net.add(layer, "Div", [centred, net.numbers(layer, "Add", root, "divisor", epsilon)], shape)


def normalize(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Divided by the length of the vector of channels, or of the whole item, then scaled (SSD)."""
    require_counts(layer)
    given = layer.fields.message("norm_param")
    shape = image(layer, net)
    axes = [1, 2, 3] if given.value("across_spatial", True) else [1]
    shared, epsilon = given.value("channel_shared", True), given.value("eps", 1e-10)
    few = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    data = layer.inputs[0]
    sums = net.add(layer, "ReduceSumSquare", [data], few, net.inner(layer, "sums"), axes=axes)
    lifted = net.numbers(layer, "Add", sums, "lifted", epsilon)
    length = net.add(layer, "Sqrt", [lifted], few, net.inner(layer, "length"))
    unit = net.add(layer, "Div", [data, length], shape, net.inner(layer, "unit"))
    factors = net.weight(layer, 0, "factors", (1,) if shared else (shape[1], 1, 1))
    net.add(layer, "Mul", [unit, factors], shape)


def softmax(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Softmax along one axis."""
    require_counts(layer)
    shape = net.shape(layer)
    axis = layer.fields.message("softmax_param").value("axis", 1)
    net.add(layer, "Softmax", layer.inputs, shape, axis=axis_of(layer, axis, len(shape)))


TRANSLATORS = {
    "BatchNorm": batch_norm,
    "Bias": bias,
    "LRN": lrn,
    "MVN": mvn,
    "Normalize": normalize,
    "Scale": scale,
    "Softmax": softmax,
}
