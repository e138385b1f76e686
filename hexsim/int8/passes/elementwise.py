"""Elementwise layers over operands spread to the output's shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hexsim.binding.call import Codes, Int32, Int64
from hexsim.binding.elementwise import BoundExtremum, BoundProduct, BoundSum
from hexsim.int8.machine_code.jit import kernel, template
from hexsim.int8.passes.movement import rescaled
from hexsim.int8.passes.operands import CHUNK, OPERANDS, chunk, spread
from hexsim.int8.prepared import SUM_BYTES, Out, Preparers
from hexsim.int8.requantise.run import requantise_run, requantise_sum
from hexsim.int8.requantise.scalar import requantise_wide
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace


class PreparedSum:
    """Sum or difference: one signed factor per operand."""

    def __init__(self, call: BoundSum) -> None:
        zero_points = np.array([x.zero_point for x in call.inputs], np.int64)
        start = np.int64(call.tail.preload[0]) - np.dot(zero_points, call.factors.astype(np.int64))
        self._start = start.astype(np.int32)  # sums wrap, so what is constant in them may
        self._factors = call.factors
        self._tail = call.tail

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        tail = self._tail
        arguments = (
            *spread(inputs, output), self._factors, self._start,
            tail.multiplier[0], tail.shift[0], tail.low, tail.high, output.reshape(-1),
            FIRST, LAST, Scratch(CHUNK, np.int32),
        )  # fmt: skip
        return [Step(_sum(output.dtype), arguments, output.size, grain=CHUNK)]


class PreparedProduct:
    """Product of two or three operands."""

    def __init__(self, call: BoundProduct) -> None:
        self._zero_points = np.array([x.zero_point for x in call.inputs], np.int32)
        self._tail = call.tail

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        tail = self._tail
        arguments = (
            *spread(inputs, output), self._zero_points, tail.preload[0], tail.multiplier[0],
            tail.shift[0], tail.low, tail.high, output.reshape(-1),
            FIRST, LAST, Scratch(CHUNK, np.int32),
        )  # fmt: skip
        return [Step(_product, arguments, output.size, grain=CHUNK)]


class PreparedWideProduct:
    """Product of two or three 16-bit operands, in 64 bits."""

    def __init__(self, call: BoundProduct) -> None:
        self._zero_points = np.array([x.zero_point for x in call.inputs], np.int64)
        self._tail = call.tail

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        tail = self._tail
        arguments = (
            *spread(inputs, output), self._zero_points, tail.preload[0], tail.multiplier[0],
            tail.shift[0], tail.fraction_bits, tail.low, tail.high, output.reshape(-1),
            FIRST, LAST, Scratch(CHUNK, np.int64),
        )  # fmt: skip
        return [Step(_wide_product, arguments, output.size, grain=CHUNK)]


class PreparedExtremum:
    """Maximum or minimum of rescaled codes."""

    def __init__(self, call: BoundExtremum) -> None:
        self._tables = call.tables
        self._largest = call.kind == "max"

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        work: list[Work] = []
        parts = []
        for codes, table in zip(inputs, self._tables, strict=True):
            part, before = rescaled(codes, table, workspace)
            parts.append(part)
            work += before
        arguments = (*spread(parts, output), self._largest, output.reshape(-1), FIRST, LAST)
        return [*work, Step(_extremum(output.dtype), arguments, output.size, grain=CHUNK)]


@template(
    "void(" + OPERANDS + ",uint8[::1],int32[::1],int32,int32,int32,int32,int32,{0}[::1],"
    "int64,int64,int32[::1])"
)
def _sum(
    operands: Int64,
    sizes: Int64,
    steps: Int64,
    scratch: Codes,
    factors: Int32,
    start: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Out,
    first: int,
    last: int,
    sums: Int32,
) -> None:
    fused = factors.size == 2 and shift == 0 and out.itemsize == 1
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        part = out[at:end]
        if fused:
            requantise_sum(
                chunk(operands, sizes, steps, scratch[:CHUNK], 0, at, end),
                chunk(operands, sizes, steps, scratch[CHUNK:], 1, at, end),
                factors[0], factors[1], start, multiplier, low, high, part,
            )  # fmt: skip
            continue
        sums[:] = start
        for i in range(factors.size):
            codes = chunk(operands, sizes, steps, scratch, i, at, end)
            factor = factors[i]
            for k in range(codes.size):
                sums[k] = np.int32(sums[k] + np.int32(factor * np.int32(codes[k])))
        if out.itemsize == SUM_BYTES:
            for k in range(part.size):
                part[k] = sums[k]
        else:
            requantise_run(sums, multiplier, shift, low, high, part)


@kernel(
    "void(" + OPERANDS + ",uint8[::1],int32[::1],int32,int32,int32,int32,int32,uint8[::1],"
    "int64,int64,int32[::1])"
)
def _product(
    operands: Int64,
    sizes: Int64,
    steps: Int64,
    scratch: Codes,
    zero_points: Int32,
    preload: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Codes,
    first: int,
    last: int,
    products: Int32,
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        products[:] = 1
        for i in range(zero_points.size):
            codes = chunk(operands, sizes, steps, scratch, i, at, end)
            zero_point = zero_points[i]
            for k in range(codes.size):
                distance = np.int32(np.int32(codes[k]) - zero_point)
                products[k] = np.int32(products[k] * distance)
        for k in range(end - at):
            products[k] = np.int32(products[k] + preload)
        requantise_run(products, multiplier, shift, low, high, out[at:end])


@kernel(
    "void(" + OPERANDS + ",uint16[::1],int64[::1],int64,int32,int32,int64,int64,int64,"
    "uint16[::1],int64,int64,int64[::1])"
)
def _wide_product(
    operands: Int64,
    sizes: Int64,
    steps: Int64,
    scratch: Codes,
    zero_points: Int64,
    preload: int,
    multiplier: int,
    shift: int,
    fraction_bits: int,
    low: int,
    high: int,
    out: Codes,
    first: int,
    last: int,
    products: Int64,
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        products[:] = 1
        for i in range(zero_points.size):
            codes = chunk(operands, sizes, steps, scratch, i, at, end)
            for k in range(codes.size):
                products[k] *= np.int64(codes[k]) - zero_points[i]
        part = out[at:end]
        for k in range(part.size):
            total = products[k] + preload
            part[k] = requantise_wide(total, multiplier, shift, fraction_bits, low, high)


@template("void(" + OPERANDS + ",{0}[::1],int64,{0}[::1],int64,int64)")
def _extremum(
    operands: Int64,
    sizes: Int64,
    steps: Int64,
    scratch: Codes,
    largest: int,
    out: Codes,
    first: int,
    last: int,
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        best = out[at:end]
        for i in range(operands.shape[0]):
            codes = chunk(operands, sizes, steps, scratch, i, at, end)
            if i == 0:
                for k in range(best.size):
                    best[k] = codes[k]
            elif largest:
                for k in range(best.size):
                    best[k] = max(best[k], codes[k])
            else:
                for k in range(best.size):
                    best[k] = min(best[k], codes[k])


PREPARERS: Preparers = {
    BoundExtremum: PreparedExtremum,
    BoundProduct: PreparedProduct,
    BoundSum: PreparedSum,
}
WIDE_PREPARERS: Preparers = {BoundProduct: PreparedWideProduct}
