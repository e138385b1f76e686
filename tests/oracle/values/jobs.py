"""Bound calls as cases of the HVX programs: which program, in which layout, with what folded in.

The programs multiply codes, not distances from zero. What does not depend on the pixels is folded
into the preload here, as a loader would: sum of (x - zx) * (w - zw) =
sum of x * w - zw * sum of x - zx * sum of (w - zw), modulo 2^32.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hexsim import binding
from hexsim.binding.requantise import common_scale, requantise
from hexsim.layers import Window
from tests.oracle.values.layout import SHEET, lanes, pixels, sheets, up, wrapped
from tests.oracle.values.record import VECTOR, Record, record


@dataclass(frozen=True)
class Job:
    """A call's records for one program, and how their results make its output codes."""

    program: str
    records: list[Record]
    codes: Callable[[Sequence[bytes]], np.ndarray]


def job(call, inputs):
    """The job of a bound call on the codes of its operands."""
    return _JOBS[type(call)](call, [np.asarray(x, np.uint8) for x in inputs])


def convolution(call, inputs):
    groups, window = call.groups, call.window
    if is_depthwise(call):
        return depthwise(call, inputs)
    deep, wide = inputs[0].shape[-1] // groups, call.weights.codes.shape[-1] // groups
    parts = [
        (
            image[..., g * deep : (g + 1) * deep],
            call.weights.codes[..., g * wide : (g + 1) * wide],
            _entries(call.tail, slice(g * wide, (g + 1) * wide)),
        )
        for image in inputs[0]
        for g in range(groups)
    ]
    zeros = call.inputs[0].zero_point, call.weights.zero_point
    size = call.output.shape[1:3]
    records = [_dense(x, w, tail, zeros, window, size) for x, w, tail in parts]

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
    case = _dense(x, weights, call.tail, zeros, Window((1, 1)), (1, batch))
    return Job("convolution", [case], lambda results: pixels(results[0], 1, batch, outputs)[0])


def _dense(image, weights, tail, zeros, window, size):
    channels, slices = up(image.shape[-1], SHEET), up(weights.shape[-1], SHEET) // SHEET
    rows, columns = _span(window, size[0], up(size[1], 4))
    x = sheets(image, rows, columns, window.pads[:2], zeros[0])
    full = np.full((*window.kernel, channels, slices * SHEET), zeros[1], weights.dtype)
    full[:, :, : weights.shape[2], : weights.shape[3]] = weights
    packed = full.reshape(*window.kernel, -1, 8, 4, slices, SHEET).transpose(5, 0, 1, 2, 3, 6, 4)
    distance = full.astype(np.int64) - zeros[1]
    folded = -zeros[0] * distance.sum(axis=(0, 1, 2))[: weights.shape[3]]
    arguments = [len(x), rows, columns, *window.kernel, *window.strides, *window.dilations]
    arguments += [size[0], up(size[1], 4), slices]
    arguments += [zeros[1], int(weights.dtype == np.int8), tail.low, tail.high]
    result = slices * size[0] * up(size[1], 4) * SHEET
    return record([x, packed, *_constants(tail, folded)], arguments, result)


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
    full = np.full((3, 4, up(inputs[0].shape[-1], SHEET)), 0, call.weights.codes.dtype)
    full[:, :3] = weight_zero
    full[:, :3, : inputs[0].shape[-1]] = call.weights.codes[:, :, 0]
    packed = full.reshape(3, 4, -1, SHEET).transpose(2, 0, 3, 1)
    distance = call.weights.codes.astype(np.int64) - weight_zero
    constants = _constants(call.tail, -zero * distance.sum(axis=(0, 1, 2)))
    records = []
    for image in inputs[0]:
        x = sheets(image, rows, columns, window.pads[:2], zero)
        arguments = [len(x), rows, columns, stride, height, up(width, 4)]
        arguments += [weight_zero, int(signed), call.tail.low, call.tail.high]
        result = len(x) * height * up(width, 4) * SHEET
        records.append(record([x, packed, *constants], arguments, result))
    return Job("depthwise", records, _images(call))


def max_pool(call, inputs):
    """2x2 and 3x3, stride 1 or 2, with equal encodings."""
    assert call.table is None
    window = call.window
    height, width = call.output.shape[1:3]
    rows = (height - 1) * window.strides[0] + window.kernel[0]
    columns = up(width, 4) * window.strides[0] + 4
    records = []
    for image in inputs[0]:
        x = sheets(image, rows, columns, window.pads[:2], 0)
        arguments = [len(x), rows, columns, window.kernel[0], window.strides[0]]
        arguments += [height, up(width, 4)]
        result = len(x) * height * up(width, 4) * SHEET
        records.append(record([x], arguments, result))
    return Job("max_pool", records, _images(call))


def average_pool(call, inputs):
    window, zero = call.window, call.inputs[0].zero_point
    size = call.output.shape[1:3]
    rows, columns = _span(window, *size)
    entry = call.tail_of.reshape(-1)
    preload = wrapped(call.tail.preload[entry].astype(np.int64) - window.taps * zero)
    constants = [preload, call.tail.multiplier[entry], call.tail.shift[entry]]
    records = []
    for image in inputs[0]:
        x = sheets(image, rows, columns, window.pads[:2], zero)
        arguments = [len(x), rows, columns, *window.kernel, *window.strides, *window.dilations]
        arguments += [*size, call.tail.low, call.tail.high]
        records.append(record([x, *constants], arguments, len(x) * size[0] * size[1] * SHEET))
    return Job("average_pool", records, _images(call))


def weighted_sum(call, inputs):
    spread = [np.broadcast_to(x, call.output.shape) for x in inputs]
    zeros = [x.zero_point for x in call.inputs]
    case = _elementwise(spread, zeros, call.tail, factors=call.factors)
    return Job("elementwise", [case], lambda results: _plain(results[0], call.output.shape))


def product(call, inputs):
    spread = [np.broadcast_to(x, call.output.shape) for x in inputs]
    case = _elementwise(spread, [x.zero_point for x in call.inputs], call.tail)
    return Job("elementwise", [case], lambda results: _plain(results[0], call.output.shape))


def concat(call, inputs):
    """Inputs whose encoding differs are rescaled: sums of one operand."""
    cases = []
    for operand, x, table in zip(call.inputs, inputs, call.tables, strict=True):
        if table is not None:
            factors, step = common_scale([operand.delta], call.output.encoding)
            tail = requantise(step, call.output.encoding)
            cases.append(_elementwise([x], [operand.zero_point], tail, factors=factors))

    def codes(results):
        made = iter(results)
        parts = [
            x if table is None else _plain(next(made), x.shape)
            for x, table in zip(inputs, call.tables, strict=True)
        ]
        return np.concatenate(parts, axis=call.axis)

    return Job("elementwise", cases, codes)


def _elementwise(operands, zeros, tail, factors=None):
    size = up(operands[0].size, VECTOR)
    sections = []
    for x in operands:
        flat = np.zeros(size, np.uint8)
        flat[: x.size] = x.reshape(-1)
        sections.append(flat)
    spare = [0] * (4 - len(operands))
    arguments = [size // VECTOR, len(operands), int(factors is None)]
    arguments += [tail.preload[0], tail.multiplier[0], tail.shift[0], tail.low, tail.high]
    arguments += [*zeros, *spare, *(factors if factors is not None else [])]
    return record(sections, arguments, size)


def _plain(data, shape):
    return np.frombuffer(data, np.uint8)[: int(np.prod(shape))].reshape(shape)


def _images(call):
    return lambda results: np.stack([pixels(data, *call.output.shape[1:]) for data in results])


def _span(window, rows, columns):
    """Rows and columns of padded input under that many outputs, columns whole vectors."""
    reach = [(n - 1) * s for n, s in zip((rows, columns), window.strides, strict=True)]
    return reach[0] + window.reach[0], up(reach[1] + window.reach[1], 4)


def _entries(tail, chosen):
    constants = tail.preload[chosen], tail.multiplier[chosen], tail.shift[chosen]
    return binding.Requantise(*constants, tail.low, tail.high)


def _constants(tail, folded):
    """Preload with `folded` added, multipliers and shifts, by lane."""
    preload = wrapped(tail.preload.astype(np.int64) + folded)
    return lanes(preload, 0), lanes(tail.multiplier, 1), lanes(tail.shift, 0)


_JOBS = {
    binding.BoundConvolution: convolution,
    binding.BoundFullyConnected: fully_connected,
    binding.BoundMaxPool: max_pool,
    binding.BoundAveragePool: average_pool,
    binding.BoundSum: weighted_sum,
    binding.BoundProduct: product,
    binding.BoundConcat: concat,
}
