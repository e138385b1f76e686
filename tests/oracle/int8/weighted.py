"""Convolution, depthwise, fully connected and batch norm as work for HVX programs.

The programs multiply codes, not distances from zero. What does not depend on the pixels is folded
into the preload here, as a loader would: sum of (x - zx) * (w - zw) =
sum of x * w - zw * sum of x - zx * sum of (w - zw), modulo 2^32.
"""

import numpy as np

from hexsim.layers import Window
from hexsim.lowering import Requantize
from tests.oracle.int8.job import Job, constants, images, span
from tests.oracle.int8.layout import DEPTH_SLICE, depth_slices, lanes, pixels, up
from tests.oracle.int8.record import record


def convolution(call, inputs):
    groups, window = call.groups, call.window
    if is_depthwise(call):
        return depthwise(call, inputs)
    deep, wide = inputs[0].shape[-1] // groups, call.weights.codes.shape[-1] // groups
    parts = [
        (
            image[..., g * deep : (g + 1) * deep],
            call.weights.codes[..., g * wide : (g + 1) * wide],
            _entries(call.stage, slice(g * wide, (g + 1) * wide)),
        )
        for image in inputs[0]
        for g in range(groups)
    ]
    zeros = call.inputs[0].zero_point, call.weights.zero_point
    size = call.output.shape[1:3]
    records = [_dense(x, w, stage, zeros, window, size) for x, w, stage in parts]

    def codes(results):
        made = [pixels(data, *size, wide) for data in results]
        images = [made[i : i + groups] for i in range(0, len(made), groups)]
        return np.stack([np.concatenate(image, axis=-1) for image in images])

    return Job("convolution", records, codes)


def fully_connected(call, inputs):
    """A 1x1 convolution whose pixels are the batch."""
    batch, outputs = call.output.shape
    x = inputs[0].reshape(1, batch, -1)
    weights = call.weights.codes[None, None]
    zeros = call.inputs[0].zero_point, call.weights.zero_point
    case = _dense(x, weights, call.stage, zeros, Window((1, 1)), (1, batch))
    return Job("convolution", [case], lambda results: pixels(results[0], 1, batch, outputs)[0])


def _dense(image, weights, stage, zeros, window, size):
    channels, slices = (
        up(image.shape[-1], DEPTH_SLICE),
        up(weights.shape[-1], DEPTH_SLICE) // DEPTH_SLICE,
    )
    rows, columns = span(window, size[0], up(size[1], 4))
    x = depth_slices(image, rows, columns, window.pads[:2], zeros[0])
    full = np.full((*window.kernel, channels, slices * DEPTH_SLICE), zeros[1], weights.dtype)
    full[:, :, : weights.shape[2], : weights.shape[3]] = weights
    packed = full.reshape(*window.kernel, -1, 8, 4, slices, DEPTH_SLICE).transpose(
        5, 0, 1, 2, 3, 6, 4
    )
    distance = full.astype(np.int64) - zeros[1]
    folded = -zeros[0] * distance.sum(axis=(0, 1, 2))[: weights.shape[3]]
    arguments = [len(x), rows, columns, *window.kernel, *window.strides, *window.dilations]
    arguments += [size[0], up(size[1], 4), slices]
    arguments += [zeros[1], int(weights.dtype == np.int8), stage.low, stage.high]
    result = slices * size[0] * up(size[1], 4) * DEPTH_SLICE
    return record([x, packed, *constants(stage, folded)], arguments, result)


def is_depthwise(call):
    """True for the 3x3 kernels with stride 1 or 2."""
    window, channels = call.window, call.inputs[0].shape[-1]
    return (
        call.groups == channels == call.weights.codes.shape[-1]
        and (window.kernel, window.dilations) == ((3, 3), (1, 1))
        and window.strides in ((1, 1), (2, 2))
    )


def depthwise(call, inputs):
    window, zero = call.window, call.inputs[0].zero_point
    stride, weight_zero = window.strides[0], call.weights.zero_point
    height, width = call.output.shape[1:3]
    rows = (height - 1) * stride + 3
    columns = up(width, 4) * stride + 4
    signed = call.weights.codes.dtype == np.int8
    full = np.full((3, 4, up(inputs[0].shape[-1], DEPTH_SLICE)), 0, call.weights.codes.dtype)
    full[:, :3] = weight_zero
    full[:, :3, : inputs[0].shape[-1]] = call.weights.codes[:, :, 0]
    packed = full.reshape(3, 4, -1, DEPTH_SLICE).transpose(2, 0, 3, 1)
    distance = call.weights.codes.astype(np.int64) - weight_zero
    stage = constants(call.stage, -zero * distance.sum(axis=(0, 1, 2)))
    records = []
    for image in inputs[0]:
        x = depth_slices(image, rows, columns, window.pads[:2], zero)
        arguments = [len(x), rows, columns, stride, height, up(width, 4)]
        arguments += [weight_zero, int(signed), call.stage.low, call.stage.high]
        result = len(x) * height * up(width, 4) * DEPTH_SLICE
        records.append(record([x, packed, *stage], arguments, result))
    return Job("depthwise", records, images(call))


def batch_norm(call, inputs):
    """Any shape: all axes but the last are pixels. Factors are halfwords of their lane's word."""
    channels = call.output.shape[-1]
    x = inputs[0].reshape(1, -1, channels)
    columns = up(x.shape[1], 4)
    packed = depth_slices(x, 1, columns, (0, 0), call.inputs[0].zero_point)
    factors = lanes(call.factors.astype(np.int32) << 16, 0)
    arguments = [len(packed), columns, call.inputs[0].zero_point, call.stage.low, call.stage.high]
    result = packed.size
    case = record([packed, factors, *constants(call.stage, 0)], arguments, result)
    shape = call.output.shape
    return Job(
        "batch_norm",
        [case],
        lambda results: pixels(results[0], 1, x.shape[1], channels).reshape(shape),
    )


def _entries(stage, chosen):
    constants = stage.preload[chosen], stage.multiplier[chosen], stage.shift[chosen]
    return Requantize(*constants, stage.low, stage.high)
