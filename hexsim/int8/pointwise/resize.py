"""Resize: pixels copied from the nearest place, or its neighbours interpolated."""

import math

import numpy as np

from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.pointwise.movement import through
from hexsim.int8.step import (
    FIRST,
    LAST,
    Inputs,
    Out,
    Preparers,
    Scratch,
    Step,
    Steps,
    Workspace,
    unpacked,
)
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.resize import (
    ROW_BITS,
    WEIGHT_BITS,
    LoweredBilinear,
    LoweredBilinear16,
    LoweredDoubling,
    LoweredNearest,
)


@unpacked
def nearest(call: LoweredNearest, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Pixels copied, then the table."""
    arguments = (inputs[0], call.rows, call.columns, output, FIRST, LAST)
    step = Step(_nearest(output.dtype), arguments, math.prod(output.shape[:2]))
    return [step, *through(call.table, output)]


@unpacked
def bilinear(call: LoweredBilinear, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Rows interpolated, then columns, then the table."""
    between = Scratch(math.prod(inputs[0].shape[2:]), np.int32)
    arguments = (inputs[0], call.rows, call.columns, output, FIRST, LAST, between)
    step = Step(_bilinear, arguments, math.prod(output.shape[:2]))
    return [step, *through(call.table, output)]


@unpacked
def doubling(call: LoweredDoubling, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Averages of neighbouring columns, then of neighbouring rows, then the table."""
    below = Scratch(math.prod(output.shape[2:]), np.uint8)
    arguments = (inputs[0], call.up_from, output, FIRST, LAST, below)
    return [
        Step(_doubling, arguments, math.prod(inputs[0].shape[:2])),
        *through(call.table, output),
    ]


@unpacked
def weighted_sums(
    call: LoweredBilinear16, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """The bare sums of four bytes of 16-bit codes; `hexsim.int8.sixteen_bit` requantises them."""
    # The weights of a pixel add up to one, so the zero point is a constant.
    start = -(call.inputs[0].zero_point << 2 * WEIGHT_BITS)
    start = (start + (1 << 31)) % (1 << 32) - (1 << 31)
    arguments = (inputs[0], call.rows, call.columns, start, output, FIRST, LAST)
    return [Step(_weighted_sums, arguments, math.prod(output.shape[:2]))]


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


@kernel("void(uint8[:,:,:,::1],int32[:,::1],int32[:,::1],int64,int32[:,:,:,::1],int64,int64)")
def _weighted_sums(
    x: Codes, rows: Int32, columns: Int32, start: int, out: Int32, first: int, last: int
) -> None:
    unit = np.int64(1 << WEIGHT_BITS)
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
                pixel[k] = np.int32(start + wa * a[k] + wb * b[k] + wc * c[k] + wd * d[k])


PREPARERS: Preparers = {
    LoweredBilinear: bilinear,
    LoweredBilinear16: weighted_sums,
    LoweredDoubling: doubling,
    LoweredNearest: nearest,
}
