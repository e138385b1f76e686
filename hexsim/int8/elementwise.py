"""Elementwise layers over operands spread to the output's shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.binding.elementwise import BoundExtremum, BoundProduct, BoundSum
from hexsim.int8.jit import kernel, template
from hexsim.int8.microkernel import COLUMNS
from hexsim.int8.movement import rescaled
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.requantise import requantise
from hexsim.int8.vector_requantise import requantise_rows
from hexsim.int8.wide import WideTail


class PreparedSum:
    """Sum or difference: one signed factor per operand."""

    def __init__(self, call: BoundSum) -> None:
        self._zero_points = np.array([x.zero_point for x in call.inputs], np.int32)
        self._factors = call.factors
        self._tail = call.tail

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        tail = self._tail
        _sum(output.dtype)(
            _spread(inputs, output), self._factors, self._zero_points, tail.preload[0],
            tail.multiplier[0], tail.shift[0], tail.low, tail.high, output.reshape(-1),
            np.empty(_CHUNK, np.int32), np.empty(_CHUNK // COLUMNS, np.int32),
            np.empty((2, COLUMNS), np.int32),
        )  # fmt: skip


class PreparedProduct:
    """Product of two or three operands."""

    def __init__(self, call: BoundProduct) -> None:
        self._zero_points = np.array([x.zero_point for x in call.inputs], np.int32)
        self._tail = call.tail

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        tail = self._tail
        _product(
            _spread(inputs, output), self._zero_points, tail.preload[0], tail.multiplier[0],
            tail.shift[0], tail.low, tail.high, output.reshape(-1), np.empty(_CHUNK, np.int32),
        )  # fmt: skip


class PreparedWideProduct:
    """Product of two or three 16-bit operands, in 64 bits."""

    def __init__(self, call: BoundProduct) -> None:
        self._zero_points = [x.zero_point for x in call.inputs]
        self._finish = WideTail(call, [0])

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        products = np.ones(output.shape, np.int64)
        for codes, zero_point in zip(inputs, self._zero_points, strict=True):
            products *= codes.astype(np.int64) - zero_point
        self._finish(products[np.newaxis], output)


class PreparedExtremum:
    """Maximum or minimum of rescaled codes."""

    def __init__(self, call: BoundExtremum) -> None:
        self._tables = call.tables
        self._choose = np.maximum if call.kind == "max" else np.minimum

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        for position, (codes, table) in enumerate(zip(inputs, self._tables, strict=True)):
            part = rescaled(codes, table)
            if position == 0:
                output[...] = part
            else:
                self._choose(output, part, out=output)


def _spread(inputs: Sequence[Codes], output: Out) -> Codes:
    """Operands broadcast to the output's shape, (operands, elements)."""
    spread = np.empty((len(inputs), *output.shape), np.uint8)
    for row, codes in zip(spread, inputs, strict=True):
        row[...] = codes
    return spread.reshape(len(inputs), -1)


_CHUNK = 4096
"""Elements summed at a time, so that the accumulators stay in the L1 cache."""


@template(
    "void(uint8[:,::1],int32[::1],int32[::1],int32,int32,int32,int32,int32,{0}[::1],int32[::1],"
    "int32[::1],int32[:,::1])"
)
def _sum(
    operands: Codes,
    factors: Int32,
    zero_points: Int32,
    preload: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Out,
    sums: Int32,
    none: Int32,
    same: Int32,
) -> None:
    none[:] = 0
    same[0, :] = multiplier
    same[1, :] = shift
    for start in range(0, out.size, _CHUNK):
        part = out[start : start + _CHUNK]
        sums[:] = preload
        for i in range(factors.size):
            codes = operands[i, start : start + _CHUNK]
            for k in range(codes.size):
                distance = np.int32(np.int32(codes[k]) - zero_points[i])
                sums[k] += np.int32(factors[i] * distance)
        if out.itemsize == SUM_BYTES:
            for k in range(part.size):
                part[k] = sums[k]
        else:
            # Rows of the vector requantise; what is left of the last one, by itself.
            rows = part.size // COLUMNS
            if rows:
                requantise_rows(
                    rows, sums.ctypes.data, SUM_BYTES * COLUMNS, none.ctypes.data,
                    none.ctypes.data, same[0].ctypes.data, same[1].ctypes.data, shift, low, high,
                    part.ctypes.data, COLUMNS,
                )  # fmt: skip
            for k in range(rows * COLUMNS, part.size):
                part[k] = requantise(sums[k], multiplier, shift, low, high)


@kernel("void(uint8[:,::1],int32[::1],int32,int32,int32,int32,int32,uint8[::1],int32[::1])")
def _product(
    operands: Codes,
    zero_points: Int32,
    preload: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Codes,
    products: Int32,
) -> None:
    for start in range(0, out.size, _CHUNK):
        part = out[start : start + _CHUNK]
        products[:] = 1
        for i in range(zero_points.size):
            codes = operands[i, start : start + _CHUNK]
            for k in range(codes.size):
                distance = np.int32(np.int32(codes[k]) - zero_points[i])
                products[k] = np.int32(products[k] * distance)
        for k in range(part.size):
            total = np.int32(products[k] + preload)
            part[k] = requantise(total, multiplier, shift, low, high)
