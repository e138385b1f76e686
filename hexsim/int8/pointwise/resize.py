"""Resize: pixels copied from the nearest place, or four of them added by their weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hexsim.int8.machine_code.inner_loops.requantize_rows import PLAIN, SHIFTED, requantize_rows
from hexsim.int8.machine_code.jit import template
from hexsim.int8.machine_code.record import record
from hexsim.int8.panel import COLUMNS, SUM_BYTES
from hexsim.int8.pointwise.lookup import look_up
from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.requantize.constants import RequantizeStage, one_stage
from hexsim.int8.requantize.scalar import requantize
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.resize import WEIGHT_BITS, LoweredBilinear, LoweredNearest


class PreparedNearest:
    """Pixels copied, then the table."""

    def __init__(self, call: LoweredNearest) -> None:
        self._rows, self._columns = call.rows, call.columns
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        arguments = (inputs[0], self._rows, self._columns, output, FIRST, LAST)
        work: list[Work] = [Step(_nearest(output.dtype), arguments, math.prod(output.shape[:2]))]
        if self._table is not None:
            work.append(look_up(output, self._table.reshape(1, -1), output))
        return work


@record("int32[::1],int32[::1],int32[::1],int32[::1]")
class LineScratch(NamedTuple):
    """Scratch for the sums of a line, and the vectors that `requantize_rows` reads with them.

    The vectors are the addends (zero), the multiplier and the shift.
    """

    sums: Any
    none: Any
    multipliers: Any
    shifts: Any


class PreparedBilinear:
    """Sums of four codes, requantised."""

    def __init__(self, call: LoweredBilinear) -> None:
        self._rows, self._columns = call.rows, call.columns
        self._zero_point, self._stage = call.inputs[0].zero_point, call.stage

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        stage, row = self._stage, math.prod(output.shape[2:])
        # The weights of a pixel add up to one, so the zero point is a constant.
        start = int(stage.preload[0]) - (self._zero_point << 2 * WEIGHT_BITS)
        start = (start + (1 << 31)) % (1 << 32) - (1 << 31)
        vector = Scratch(COLUMNS, np.int32)
        none = Scratch(max(row // COLUMNS, COLUMNS), np.int32)
        arguments = (
            inputs[0], self._rows, self._columns, one_stage(stage, start), output, FIRST, LAST,
            LineScratch(Scratch(row, np.int32), none, vector, vector),
        )  # fmt: skip
        add = _bilinear(output.dtype)
        return [Step(add, arguments, math.prod(output.shape[:2]))]


@template("void({0}[:,:,:,::1],int32[::1],int32[::1],{0}[:,:,:,::1],int64,int64)")
def _nearest(x: Codes, rows: Int32, columns: Int32, out: Out, first: int, last: int) -> None:
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        for ox in range(out.shape[2]):
            source, target = x[image, rows[oy], columns[ox]], out[image, oy, ox]
            for c in range(target.size):
                target[c] = source[c]


@template(
    "void(uint8[:,:,:,::1],int32[:,::1],int32[:,::1],RequantizeStage,{0}[:,:,:,::1],int64,int64,LineScratch)"
)
def _bilinear(
    x: Codes,
    rows: Int32,
    columns: Int32,
    stage: RequantizeStage,
    out: Out,
    first: int,
    last: int,
    line: LineScratch,
) -> None:
    start, multiplier, shift = np.int64(stage.preload), stage.multiplier, stage.shift
    low, high = stage.low, stage.high
    sums, none, multipliers, shifts = line.sums, line.none, line.multipliers, line.shifts
    way = SHIFTED if shift else PLAIN
    none[:] = 0
    multipliers[:] = multiplier
    shifts[:] = shift
    unit, channels = np.int64(1 << WEIGHT_BITS), out.shape[3]
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        above, below, down = x[image, rows[oy, 0]], x[image, rows[oy, 1]], np.int64(rows[oy, 2])
        for ox in range(out.shape[2]):
            left, right, aside = columns[ox, 0], columns[ox, 1], np.int64(columns[ox, 2])
            a, b, c, d = above[left], above[right], below[left], below[right]
            wa, wb = (unit - down) * (unit - aside), (unit - down) * aside
            wc, wd = down * (unit - aside), down * aside
            pixel = sums[ox * channels : (ox + 1) * channels]
            for k in range(pixel.size):
                pixel[k] = np.int32(start + wa * a[k] + wb * b[k] + wc * c[k] + wd * d[k])
        row = out[image, oy].reshape(-1)
        if out.itemsize == SUM_BYTES:
            for k in range(row.size):
                row[k] = sums[k]
        else:
            # Whole vectors by `requantize_rows`, the rest one by one.
            vectors = row.size // COLUMNS
            if vectors:
                requantize_rows(
                    vectors, sums.ctypes.data, SUM_BYTES * COLUMNS, none.ctypes.data,
                    none.ctypes.data, multipliers.ctypes.data, shifts.ctypes.data, way, low, high,
                    row.ctypes.data, COLUMNS,
                )  # fmt: skip
            for k in range(vectors * COLUMNS, row.size):
                row[k] = requantize(sums[k], multiplier, shift, low, high)


PREPARERS: Preparers = {LoweredBilinear: PreparedBilinear, LoweredNearest: PreparedNearest}
