"""Pooling and resizing of images.

Pooling over the part of each window that lies in the input.

Resize: pixels copied from the nearest place, or its neighbours interpolated.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.inner_loops.codes import largest_codes
from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.pointwise.movement import through
from hexsim.int8.requantize import OneStage16, one_stage_16bit, requantize_16bit
from hexsim.int8.step import ROWS, Buffers, Out, Preparers, Scratch, Step, Steps, unpacked
from hexsim.layers import Window
from hexsim.lowering.images import (
    ROW_BITS,
    WEIGHT_BITS,
    LoweredAveragePool,
    LoweredAveragePool16,
    LoweredBilinear,
    LoweredBilinear16,
    LoweredDoubling,
    LoweredMaxPool,
    LoweredNearest,
)
from hexsim.lowering.lowered_call import Codes, Int32, Int64


@unpacked
def max_pool(call: LoweredMaxPool, at: Buffers) -> Steps:
    """The maximum of codes, then the table."""
    window = _window(call.window)
    _, _, width, channels = at.inputs[0].shape
    columns = Scratch(width * channels, at.output.dtype)
    arguments = (at.inputs[0], window, at.output, *ROWS, columns)
    step = Step(_max_pool(at.output.dtype), arguments, math.prod(at.output.shape[:2]))
    return [step, *through(call.table, at.output)]


@record(
    "int64[:,::1],int32,int32[:,::1],int64[::1],int64[::1],int64[::1],int64[::1],int64[::1],"
    "boolean[::1]"
)
class Average(NamedTuple):
    """A window as `_window` returns it, the zero point, each pixel's entry, and the `Means`.

    `narrow` says of each entry whether `_narrow_codes` computes the same: 32 bits are enough,
    and the shifts are the usual ones.
    """

    window: Int64
    zero_point: int
    entry_of: Int32
    gain: Int64
    offset: Int64
    right: Int64
    factor: Int64
    last: Int64
    narrow: npt.NDArray[np.bool_]


@unpacked
def average_pool(call: LoweredAveragePool, at: Buffers) -> Steps:
    """The sum of codes, scaled by the constants of the pixel's count."""
    means = call.means
    average = Average(
        _window(call.window), call.inputs[0].zero_point, call.entry_of,
        means.gain, means.offset, means.right, means.factor, means.last,
        means.fits_32_bits(255 * call.window.taps) & (means.right == 1) & (means.last == 6),
    )  # fmt: skip
    sums = Scratch(at.output.shape[-1], np.int32)
    arguments = (at.inputs[0], average, at.output, *ROWS, sums)
    return [Step(_average_pool, arguments, math.prod(at.output.shape[:2]))]


@unpacked
def window_sums(call: LoweredAveragePool16, at: Buffers) -> Steps:
    """The bare sums of one byte of 16-bit codes; `hexsim.int8.sixteen_bit` requantises them."""
    window = _window(call.window)
    zero_point = call.inputs[0].zero_point
    arguments = (at.inputs[0], window, zero_point, at.output, *ROWS)
    return [Step(_window_sums, arguments, math.prod(at.output.shape[:2]))]


def _window(window: Window) -> Int64:
    """Return kernel, strides, dilations and first pads as (4, 2) rows of (height, width)."""
    rows = [window.kernel, window.strides, window.dilations, window.pads[:2]]
    return np.array(rows, np.int64)


@template("void({0}[:,:,:,::1],int64[:,::1],{0}[:,:,:,::1],int64,int64,{0}[::1])")
def _max_pool(x: Codes, window: Int64, out: Codes, first: int, last: int, columns: Codes) -> None:
    """Find the largest code of each column first, so that whole rows are read in order."""
    pixel = x.shape[3] * x.itemsize
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        top = oy * window[1, 0] - window[3, 0]
        row, end_row = _inside(top, window[0, 0], window[2, 0], x.shape[1])
        columns[:] = 0
        for tap in range(row, end_row):
            codes = x[image, top + tap * window[2, 0]].reshape(-1)
            for i in range(columns.size):
                columns[i] = max(columns[i], codes[i])
        best = out.ctypes.data + output_row * out.shape[2] * pixel
        for ox in range(out.shape[2]):
            left = ox * window[1, 1] - window[3, 1]
            column, end_column = _inside(left, window[0, 1], window[2, 1], x.shape[2])
            start = columns.ctypes.data + (left + column * window[2, 1]) * pixel
            taps, step = end_column - column, pixel * window[2, 1]
            largest_codes(columns, start, taps, step, x.shape[3], best + ox * pixel)


@inlined
def _inside(start: int, taps: int, dilation: int, size: int) -> tuple[int, int]:
    """Return the first tap inside an axis of `size` and the one behind the last."""
    if start >= 0 and start + (taps - 1) * dilation < size:
        return 0, taps
    first = max(-start + dilation - 1, 0) // dilation
    behind = min(max(size - start + dilation - 1, 0) // dilation, taps)
    return first, max(first, behind)


@inlined
def _add_window(
    x: Codes, window: Int64, zero_point: int, image: int, oy: int, ox: int, sums: Int32
) -> None:
    """Add up the distances of a window from the zero point, channel by channel."""
    sums[:] = 0
    for ky in range(window[0, 0]):
        x_row = oy * window[1, 0] - window[3, 0] + ky * window[2, 0]
        if x_row < 0 or x_row >= x.shape[1]:
            continue
        for kx in range(window[0, 1]):
            x_column = ox * window[1, 1] - window[3, 1] + kx * window[2, 1]
            if x_column < 0 or x_column >= x.shape[2]:
                continue
            pixel = x[image, x_row, x_column]
            for c in range(sums.size):
                sums[c] += np.int32(np.int32(pixel[c]) - zero_point)


@kernel("void(uint8[:,:,:,::1],Average,uint8[:,:,:,::1],int64,int64,int32[::1])")
def _average_pool(x: Codes, average: Average, out: Out, first: int, last: int, sums: Int32) -> None:
    window, zero_point, half = average.window, average.zero_point, np.int64(1 << 14)
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        for ox in range(out.shape[2]):
            _add_window(x, window, zero_point, image, oy, ox, sums)
            entry, row = average.entry_of[oy, ox], out[image, oy, ox]
            gain, offset, right = average.gain[entry], average.offset[entry], average.right[entry]
            factor, shift = average.factor[entry], average.last[entry]
            if average.narrow[entry]:
                _narrow_codes(sums, np.int32(gain), np.int32(offset), np.int32(factor), row)
            else:
                rest = np.int64(1) << shift >> 1
                for c in range(sums.size):
                    scaled = ((np.int64(sums[c]) * gain + offset) >> right) * factor + half
                    code = ((scaled >> 15) + rest) >> shift
                    row[c] = np.uint8(min(max(code, 0), 255))


@inlined
def _narrow_codes(sums: Int32, gain: int, offset: int, factor: int, row: Out) -> None:
    """Do the same in int32, with shifts that are constants, so that it becomes vectors."""
    for c in range(sums.size):
        scaled = np.int32(np.int32(np.int32(sums[c] * gain) + offset) >> np.int32(1))
        raised = np.int32(np.int32(np.int32(scaled * factor) + np.int32(1 << 14)) >> np.int32(15))
        code = np.int32(np.int32(raised + np.int32(32)) >> np.int32(6))
        row[c] = np.uint8(min(max(code, np.int32(0)), np.int32(255)))


@kernel("void(uint8[:,:,:,::1],int64[:,::1],int32,int32[:,:,:,::1],int64,int64)")
def _window_sums(x: Codes, window: Int64, zero: int, out: Int32, first: int, last: int) -> None:
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        for ox in range(out.shape[2]):
            _add_window(x, window, zero, image, oy, ox, out[image, oy, ox])


@unpacked
def nearest(call: LoweredNearest, at: Buffers) -> Steps:
    """Pixels copied, then the table."""
    arguments = (at.inputs[0], call.rows, call.columns, at.output, *ROWS)
    step = Step(_nearest(at.output.dtype), arguments, math.prod(at.output.shape[:2]))
    return [step, *through(call.table, at.output)]


@unpacked
def bilinear(call: LoweredBilinear, at: Buffers) -> Steps:
    """Rows interpolated, then columns, then the table."""
    between = Scratch(math.prod(at.inputs[0].shape[2:]), np.int32)
    arguments = (at.inputs[0], call.rows, call.columns, at.output, *ROWS, between)
    step = Step(_bilinear, arguments, math.prod(at.output.shape[:2]))
    return [step, *through(call.table, at.output)]


@unpacked
def doubling(call: LoweredDoubling, at: Buffers) -> Steps:
    """Averages of neighbouring columns, then of neighbouring rows, then the table."""
    below = Scratch(math.prod(at.output.shape[2:]), np.uint8)
    arguments = (at.inputs[0], call.up_from, at.output, *ROWS, below)
    return [
        Step(_doubling, arguments, math.prod(at.inputs[0].shape[:2])),
        *through(call.table, at.output),
    ]


@unpacked
def bilinear_16bit(call: LoweredBilinear16, at: Buffers) -> Steps:
    """Bilinear resizing of 16-bit codes."""
    zero_point, stage = call.inputs[0].zero_point, one_stage_16bit(call.stage)
    arguments = (at.inputs[0], zero_point, call.rows, call.columns, stage, at.output, *ROWS)
    return [Step(_bilinear_16bit, arguments, math.prod(at.output.shape[:2]))]


@template("void({0}[:,:,:,::1],int32[::1],int32[::1],{0}[:,:,:,::1],int64,int64)")
def _nearest(x: Codes, rows: Int32, columns: Int32, out: Out, first: int, last: int) -> None:
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        for ox in range(out.shape[2]):
            source, target = x[image, rows[oy], columns[ox]], out[image, oy, ox]
            for c in range(target.size):
                target[c] = source[c]


@kernel("void(uint8[:,:,:,::1],int32[:,::1],int32[:,::1],uint8[:,:,:,::1],int64,int64,int32[::1])")
def _bilinear(
    x: Codes, rows: Int32, columns: Int32, out: Out, first: int, last: int, between: Int32
) -> None:
    unit, half, rest = np.int32(1 << ROW_BITS), np.int32(1 << 14), np.int32(64)
    channels = out.shape[3]
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        above, below = x[image, rows[oy, 0]].reshape(-1), x[image, rows[oy, 1]].reshape(-1)
        low = np.int32(rows[oy, 2])
        high = np.int32(unit - low)
        for k in range(between.size):
            between[k] = np.int32(above[k]) * high + np.int32(below[k]) * low
        for ox in range(out.shape[2]):
            left, right = columns[ox, 0] * channels, columns[ox, 1] * channels
            a, b = between[left : left + channels], between[right : right + channels]
            weight, row = np.int32(columns[ox, 2]), out[image, oy, ox]
            for c in range(row.size):
                change = np.int32(np.int32(np.int32(b[c] - a[c]) * weight) + half) >> np.int32(15)
                row[c] = np.uint8(np.int32(np.int32(a[c] + change) + rest) >> np.int32(7))


@kernel("void(uint8[:,:,:,::1],int64,uint8[:,:,:,::1],int64,int64,uint8[::1])")
def _doubling(x: Codes, up_from: int, out: Out, first: int, last: int, below: Codes) -> None:
    height, channels = x.shape[1], x.shape[3]
    for input_row in range(first, last):
        image = input_row // height
        i = input_row - image * height
        even, odd = out[image, 2 * i].reshape(-1), out[image, 2 * i + 1].reshape(-1)
        _double_columns(x[image, i].reshape(-1), channels, even)
        _double_columns(x[image, min(i + 1, height - 1)].reshape(-1), channels, below)
        middle = up_from * channels
        _average(even[:middle], below[:middle], 0, odd[:middle])
        _average(even[middle:], below[middle:], 1, odd[middle:])


@inlined
def _double_columns(row: Codes, channels: int, out: Codes) -> None:
    for j in range(row.size // channels):
        left, right = j * channels, min((j + 1) * channels, row.size - channels)
        a, b = row[left : left + channels], row[right : right + channels]
        pixel, beside = out[2 * left : 2 * left + channels], out[2 * left + channels :]
        for c in range(a.size):
            pixel[c] = a[c]
        for c in range(a.size):
            beside[c] = np.uint8((np.uint16(a[c]) + np.uint16(b[c])) >> 1)


@inlined
def _average(a: Codes, b: Codes, up: int, out: Codes) -> None:
    for k in range(out.size):
        out[k] = np.uint8((np.uint16(a[k]) + np.uint16(b[k]) + np.uint16(up)) >> 1)


@kernel(
    "void(uint16[:,:,:,::1],int64,int32[:,::1],int32[:,::1],OneStage16,uint16[:,:,:,::1],int64,int64)"
)
def _bilinear_16bit(
    x: Codes, zero: int, rows: Int32, columns: Int32, stage: OneStage16, out: Out, first: int,
    last: int,
) -> None:  # fmt: skip
    unit = np.int64(1 << WEIGHT_BITS)
    # The weights of a pixel add up to one, so the zero point is a constant.
    start = stage.preload - (zero << np.int64(2 * WEIGHT_BITS))
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        above, below, down = x[image, rows[oy, 0]], x[image, rows[oy, 1]], np.int64(rows[oy, 2])
        for ox in range(out.shape[2]):
            left, right, aside = columns[ox, 0], columns[ox, 1], np.int64(columns[ox, 2])
            a, b, c, d = above[left], above[right], below[left], below[right]
            wa, wb = (unit - down) * (unit - aside), (unit - down) * aside
            wc, wd = down * (unit - aside), down * aside
            pixel = out[image, oy, ox]
            for k in range(pixel.size):
                pixel[k] = requantize_16bit(
                    start + wa * a[k] + wb * b[k] + wc * c[k] + wd * d[k],
                    stage.multiplier, stage.shift, stage.fraction_bits, stage.low, stage.high,
                )  # fmt: skip


PREPARERS_16BIT: Preparers = {LoweredBilinear16: bilinear_16bit}
PREPARERS: Preparers = {
    LoweredAveragePool: average_pool,
    LoweredAveragePool16: window_sums,
    LoweredMaxPool: max_pool,
    LoweredBilinear: bilinear,
    LoweredDoubling: doubling,
    LoweredNearest: nearest,
}
