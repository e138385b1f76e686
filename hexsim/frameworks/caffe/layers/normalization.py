"""BatchNorm, Scale, Bias, LRN, MVN, Normalize and Softmax."""

import math
from functools import partial

import numpy as np

from hexsim.frameworks.caffe.blobs import Blob
from hexsim.frameworks.caffe.description import CaffeLayer, Shape
from hexsim.frameworks.caffe.graph import Array, CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import axis_of, broadcast, image


def batch_norm(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add BatchNormalization without gamma and beta; the stored sums are divided by the factor."""
    fields = layer.fields.message("batch_norm_param")
    if not fields.value("use_global_stats", True):
        raise layer.error("it normalises by each batch ('use_global_stats: false'), as in training")
    fields.value("moving_average_fraction", 0.999)
    epsilon = fields.value("eps", 1e-5)
    shape = net.shape(layer)
    channels = shape[1:2] or (1,)
    net.blob(layer, 2)  # the factor, without which the sums have no meaning
    mean, variance = (
        net.promise(
            layer, name, channels, partial(_averaged, *_checked(layer, net, i, channels), channels)
        )
        for i, name in enumerate(("mean", "variance"))
    )
    ones, zeros = _neutral(layer, net, channels)
    inputs = [layer.inputs[0], ones, zeros, mean, variance]
    net.add(layer, "BatchNormalization", inputs, shape, epsilon=epsilon)


def _checked(layer: CaffeLayer, net: CaffeGraph, index: int, channels: Shape) -> tuple[Blob, Blob]:
    """Return the blob of sums at `index` and the factor that divides them."""
    sums, factor = net.blob(layer, index), net.blob(layer, 2)
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
    """Add constants of ones and of zeros; return their names."""
    ones = net.promise(layer, "ones", channels, partial(np.ones, channels, np.float32))
    zeros = net.promise(layer, "zeros", channels, partial(np.zeros, channels, np.float32))
    return ones, zeros


def scale(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add Mul and, with `bias_term`, Add; after a BatchNorm these are its gamma and beta."""
    fields = layer.fields.message("scale_param")
    biased, axis, count = (
        fields.value("bias_term", False), fields.value("axis", 1), fields.value("num_axes", 1)
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
        ones, zeros = _neutral(layer, net, shape[1:2])
        beta = net.weight(layer, 1, "beta", shape[1:2]) if biased else zeros
        inputs = [layer.inputs[0], gamma, beta, zeros, ones]
        net.add(layer, "BatchNormalization", inputs, shape, epsilon=0.0)
        return
    factor, inner = _operand(layer, net, axis, count, "factors")
    if not biased:
        net.add(layer, "Mul", [layer.inputs[0], factor], shape)
        return
    product = net.add(layer, "Mul", [layer.inputs[0], factor], shape, net.inner(layer, "product"))
    position = 0 if len(layer.inputs) == 2 else 1
    bias = net.weight(layer, position, "bias", broadcast(inner, axis, len(shape)))
    net.add(layer, "Add", [product, bias], shape)


def bias(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a blob, or the second bottom, to the first bottom."""
    fields = layer.fields.message("bias_param")
    shape = net.shape(layer)
    axis = axis_of(layer, fields.value("axis", 1), len(shape))
    operand, _ = _operand(layer, net, axis, fields.value("num_axes", 1), "bias")
    net.add(layer, "Add", [layer.inputs[0], operand], shape)


def _operand(
    layer: CaffeLayer, net: CaffeGraph, axis: int, count: int, role: str
) -> tuple[str, Shape]:
    """Return the second operand, a blob or the second bottom, and its shape from `axis` on."""
    shape, rank = net.shape(layer), len(net.shape(layer))
    if len(layer.inputs) > 2:
        raise layer.error(f"it has {len(layer.inputs)} bottoms, and takes one or two")
    if len(layer.inputs) == 1:
        end = rank if count == -1 else axis + count
        if count < -1 or end > rank:
            raise layer.error(f"'num_axes' is {count}, and {rank - axis} axes follow")
        inner = shape[axis:end]
        return net.weight(layer, 0, role, broadcast(inner, axis, rank)), inner
    inner = net.shape(layer, 1)
    if shape[axis : axis + len(inner)] != inner:
        raise layer.error(f"its second input has the shape {list(inner)}, its first {list(shape)}")
    operand_shape = broadcast(inner, axis, rank)
    if operand_shape == inner:
        return layer.inputs[1], inner
    target = net.constant(layer, "shape", operand_shape, "int64")
    name = net.inner(layer, "operand")
    return net.add(layer, "Reshape", [layer.inputs[1], target], operand_shape, name), inner


def lrn(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add LRN across channels, or within channels: squares averaged over a window of the image."""
    fields = layer.fields.message("lrn_param")
    size, alpha, beta = (
        fields.positive("local_size", 5), fields.value("alpha", 1.0), fields.value("beta", 0.75)
    )  # fmt: skip
    region = fields.value("norm_region", "ACROSS_CHANNELS")
    bias, shape = fields.value("k", 1.0), image(layer, net)
    if size % 2 == 0:
        raise layer.error(f"'local_size' is {size}, and must be odd")
    if region == "ACROSS_CHANNELS":
        net.add(layer, "LRN", layer.inputs, shape, size=size, alpha=alpha, beta=beta, bias=bias)
        return
    pads, data = [(size - 1) // 2] * 4, layer.inputs[0]
    squares = net.add(layer, "Mul", [data, data], shape, net.inner(layer, "squares"))
    means = net.add(
        layer, "AveragePool", [squares], shape, net.inner(layer, "means"),
        kernel_shape=[size, size], strides=[1, 1], pads=pads, count_include_pad=1,
    )  # fmt: skip
    scaled = net.numbers(layer, "Mul", means, "scaled", alpha)
    shifted = net.numbers(layer, "Add", scaled, "lifted", 1.0)
    factors = net.numbers(layer, "Pow", shifted, "factors", -beta)
    net.add(layer, "Mul", [data, factors], shape)


def mvn(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Subtract the mean and, by default, divide by the standard deviation plus `eps`."""
    fields = layer.fields.message("mvn_param")
    shape = image(layer, net)
    axes = [1, 2, 3] if fields.value("across_channels", False) else [2, 3]
    divides, epsilon = fields.value("normalize_variance", True), fields.value("eps", 1e-9)
    reduced = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    data = layer.inputs[0]
    mean = net.add(layer, "ReduceMean", [data], reduced, net.inner(layer, "mean"), axes=axes)
    if not divides:
        net.add(layer, "Sub", [data, mean], shape)
        return
    centred = net.add(layer, "Sub", [data, mean], shape, net.inner(layer, "centred"))
    squares = net.add(layer, "Mul", [centred, centred], shape, net.inner(layer, "squares"))
    variance = net.add(
        layer, "ReduceMean", [squares], reduced, net.inner(layer, "variance"), axes=axes
    )
    root = net.add(layer, "Sqrt", [variance], reduced, net.inner(layer, "deviation"))
    net.add(layer, "Div", [centred, net.numbers(layer, "Add", root, "divisor", epsilon)], shape)


def normalize(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Divide by the L2 norm of the channels, or of the whole item, then scale (SSD)."""
    fields = layer.fields.message("norm_param")
    shape = image(layer, net)
    axes = [1, 2, 3] if fields.value("across_spatial", True) else [1]
    shared, epsilon = fields.value("channel_shared", True), fields.value("eps", 1e-10)
    reduced = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    data = layer.inputs[0]
    sums = net.add(layer, "ReduceSumSquare", [data], reduced, net.inner(layer, "sums"), axes=axes)
    shifted = net.numbers(layer, "Add", sums, "lifted", epsilon)
    length = net.add(layer, "Sqrt", [shifted], reduced, net.inner(layer, "length"))
    unit = net.add(layer, "Div", [data, length], shape, net.inner(layer, "unit"))
    factors = net.weight(layer, 0, "factors", (1,) if shared else (shape[1], 1, 1))
    net.add(layer, "Mul", [unit, factors], shape)


def softmax(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add Softmax along one axis."""
    shape = net.shape(layer)
    axis = layer.fields.message("softmax_param").value("axis", 1)
    net.add(layer, "Softmax", layer.inputs, shape, axis=axis_of(layer, axis, len(shape)))


COUNTS = {"Bias": (None, 1), "Scale": (None, 1)}
TRANSLATORS = {
    "BatchNorm": batch_norm,
    "Bias": bias,
    "LRN": lrn,
    "MVN": mvn,
    "Normalize": normalize,
    "Scale": scale,
    "Softmax": softmax,
}
