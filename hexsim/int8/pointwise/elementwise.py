"""Elementwise layers over operands spread to the output's shape, a chunk at a time.

An operand that lies as the output does is read where it is. Of any other, a chunk is copied into
memory of the thread's own. Quotients are computed in 64 bits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.addresses import array_at
from hexsim.int8.machine_code.arguments import Words, record
from hexsim.int8.machine_code.jit import kernel, subroutine, template
from hexsim.int8.panel import SUM_BYTES
from hexsim.int8.pointwise.movement import Paths, copy_elements, merged_axes, rescaled
from hexsim.int8.requantize import (
    OneStage16,
    RequantizeStage,
    one_stage,
    one_stage_16bit,
    requantize_16bit,
    requantize_run,
    requantize_sum,
)
from hexsim.int8.step import ROWS, Buffers, Out, Preparers, Scratch, Step, Steps, Work, unpacked
from hexsim.lowering.elementwise import (
    LoweredExtremum,
    LoweredPairProduct,
    LoweredPairSum,
    LoweredProduct,
    LoweredQuotient,
    LoweredSum,
)
from hexsim.lowering.lowered_call import Codes, Int32, Int64

CHUNK = 4096
"""Elements at a time, few enough to stay in the L1 cache."""


@record("int64[:,::1],int64[::1],int64[:,::1]")
class Spread(NamedTuple):
    """Operands and how they lie: (address, elements) of each, sizes of axes, steps along them.

    The operands are words in a step, int64 in a kernel. The last row of steps is the output's.
    """

    operands: Any
    sizes: Int64
    steps: Int64


def spread(inputs: Sequence[Codes], output: Out) -> tuple[Spread, Scratch]:
    """Return arguments of `chunk`: the operands, and scratch for two of them."""
    shape = output.shape
    steps = [_steps(codes, shape) for codes in inputs]
    output_steps = tuple(step // output.itemsize for step in output.strides)
    sizes, merged = merged_axes(shape, [*steps, output_steps])
    operands = Words([[codes, codes.size] for codes in inputs])
    scratch = Scratch(2 * CHUNK, inputs[0].dtype)
    return Spread(operands, np.array(sizes, np.int64), np.array(merged, np.int64)), scratch


def _steps(codes: Codes, shape: Shape) -> tuple[int, ...]:
    """Return the elements from each to the next along the axes of `shape`, 0 where repeated."""
    steps = [
        0 if size == 1 else step // codes.itemsize
        for size, step in zip(codes.shape, codes.strides, strict=True)
    ]
    return (*[0] * (len(shape) - len(steps)), *steps)


@subroutine
def chunk(spread: Spread, scratch: Codes, i: int, first: int, last: int) -> Codes:
    """Return elements `first` to `last` - 1 of operand i, in place or copied into the scratch."""
    operands, sizes, steps = spread.operands, spread.sizes, spread.steps
    source: Codes = array_at(operands[i, 0], scratch, operands[i, 1])
    dense = True
    for axis in range(sizes.size):
        dense = dense and steps[i, axis] == steps[-1, axis]
    if dense:
        return source[first:last]
    paths = Paths(0, steps[i], -first, steps[-1], sizes)
    copy_elements(source, scratch, paths, first, last)
    return scratch[: last - first]


@unpacked
def weighted_sum(call: LoweredSum, at: Buffers) -> Steps:
    """Sum or difference: one signed factor per operand."""
    zero_points = np.array([x.zero_point for x in call.inputs], np.int64)
    start = np.int64(call.stage.preload[0]) - np.dot(zero_points, call.factors.astype(np.int64))
    # Sums wrap, so their constant part may wrap as well.
    stage = one_stage(call.stage, int(start.astype(np.int32)))
    arguments = (
        *spread(at.inputs, at.output), call.factors, stage, at.output.reshape(-1),
        *ROWS, Scratch(CHUNK, np.int32),
    )  # fmt: skip
    return [Step(_sum(at.output.dtype), arguments, at.output.size, grain=CHUNK)]


@unpacked
def product(call: LoweredProduct, at: Buffers) -> Steps:
    """Product of two or three operands, of 16-bit ones in 64 bits."""
    wide = call.stage.fraction_bits > 0
    number = np.int64 if wide else np.int32
    zero_points = np.array([x.zero_point for x in call.inputs], number)
    stage = one_stage_16bit(call.stage) if wide else one_stage(call.stage)
    arguments = (
        *spread(at.inputs, at.output), zero_points, stage, at.output.reshape(-1),
        *ROWS, Scratch(CHUNK, number),
    )  # fmt: skip
    multiply = _product_16bit if wide else _product
    return [Step(multiply, arguments, at.output.size, grain=CHUNK)]


@unpacked
def extremum_of_operands(call: LoweredExtremum, at: Buffers) -> Steps:
    """Maximum or minimum of rescaled codes."""
    largest = call.kind == "max"
    work: list[Work] = []
    parts = []
    for codes, table in zip(at.inputs, call.tables, strict=True):
        part, before = rescaled(codes, table, at.workspace)
        parts.append(part)
        work += before
    arguments = (*spread(parts, at.output), largest, at.output.reshape(-1), *ROWS)
    return [*work, Step(_extremum(at.output.dtype), arguments, at.output.size, grain=CHUNK)]


@template("void(Spread,uint8[::1],int32[::1],RequantizeStage,{0}[::1],int64,int64,int32[::1])")
def _sum(
    operands: Spread,
    scratch: Codes,
    factors: Int32,
    stage: RequantizeStage,
    out: Out,
    first: int,
    last: int,
    sums: Int32,
) -> None:
    fused = factors.size == 2 and stage.shift == 0 and out.itemsize == 1
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        part = out[at:end]
        if fused:
            requantize_sum(
                chunk(operands, scratch[:CHUNK], 0, at, end),
                chunk(operands, scratch[CHUNK:], 1, at, end),
                factors[0], factors[1], stage, part,
            )  # fmt: skip
            continue
        sums[:] = stage.preload
        for i in range(factors.size):
            codes = chunk(operands, scratch, i, at, end)
            factor = factors[i]
            for k in range(codes.size):
                sums[k] = np.int32(sums[k] + np.int32(factor * np.int32(codes[k])))
        if out.itemsize == SUM_BYTES:
            for k in range(part.size):
                part[k] = sums[k]
        else:
            requantize_run(sums, stage, part)


@kernel("void(Spread,uint8[::1],int32[::1],RequantizeStage,uint8[::1],int64,int64,int32[::1])")
def _product(
    operands: Spread,
    scratch: Codes,
    zero_points: Int32,
    stage: RequantizeStage,
    out: Codes,
    first: int,
    last: int,
    products: Int32,
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        products[:] = 1
        for i in range(zero_points.size):
            codes = chunk(operands, scratch, i, at, end)
            zero_point = zero_points[i]
            for k in range(codes.size):
                distance = np.int32(np.int32(codes[k]) - zero_point)
                products[k] = np.int32(products[k] * distance)
        for k in range(end - at):
            products[k] = np.int32(products[k] + stage.preload)
        requantize_run(products, stage, out[at:end])


@kernel("void(Spread,uint16[::1],int64[::1],OneStage16,uint16[::1],int64,int64,int64[::1])")
def _product_16bit(
    operands: Spread,
    scratch: Codes,
    zero_points: Int64,
    stage: OneStage16,
    out: Codes,
    first: int,
    last: int,
    products: Int64,
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        products[:] = 1
        for i in range(zero_points.size):
            codes = chunk(operands, scratch, i, at, end)
            for k in range(codes.size):
                products[k] *= np.int64(codes[k]) - zero_points[i]
        part = out[at:end]
        for k in range(part.size):
            part[k] = requantize_16bit(
                products[k] + stage.preload, stage.multiplier, stage.shift, stage.fraction_bits,
                stage.low, stage.high,
            )  # fmt: skip


@template("void(Spread,{0}[::1],int64,{0}[::1],int64,int64)")
def _extremum(
    operands: Spread, scratch: Codes, largest: int, out: Codes, first: int, last: int
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        best = out[at:end]
        for i in range(operands.operands.shape[0]):
            codes = chunk(operands, scratch, i, at, end)
            if i == 0:
                for k in range(best.size):
                    best[k] = codes[k]
            elif largest:
                for k in range(best.size):
                    best[k] = max(best[k], codes[k])
            else:
                for k in range(best.size):
                    best[k] = min(best[k], codes[k])


PREPARERS_16BIT: Preparers = {LoweredProduct: product}


@unpacked
def pair_sum(call: LoweredPairSum, at: Buffers) -> Steps:
    """Sum or difference of two operands.

    Two shifts with a constant between them are one shift of a larger constant. The saturation to
    16 bits between them changes no code: the last shift is of 7 bits at most, so what saturates
    lies beyond the codes.
    """
    start = (call.offset + (1 << call.shift >> 1)) << call.cut
    places = call.cut + call.shift
    constants = np.array([*call.factors, start, places, call.low, call.high], np.int32)
    arguments = (*spread(at.inputs, at.output), constants, at.output.reshape(-1), *ROWS)
    return [Step(_sum_of_pairs, arguments, at.output.size, grain=CHUNK)]


@unpacked
def pair_product(call: LoweredPairProduct, at: Buffers) -> Steps:
    """Product of two operands."""
    zero_points = [x.zero_point for x in call.inputs]
    limits = (call.offset, call.shift, call.low, call.high)
    constants = np.array([*zero_points, call.centre, call.factor, *limits], np.int32)
    arguments = (*spread(at.inputs, at.output), constants, at.output.reshape(-1), *ROWS)
    return [Step(_product_of_pairs, arguments, at.output.size, grain=CHUNK)]


@kernel("void(Spread,uint8[::1],int32[::1],uint8[::1],int64,int64)")
def _sum_of_pairs(
    operands: Spread, scratch: Codes, constants: Int32, out: Codes, first: int, last: int
) -> None:
    factor_a, factor_b, start = constants[0], constants[1], constants[2]
    places = constants[3] & np.int32(31)  # so that it is a shift of 32-bit lanes
    low, high = constants[4], constants[5]
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        a = chunk(operands, scratch[:CHUNK], 0, at, end)
        b = chunk(operands, scratch[CHUNK:], 1, at, end)
        part = out[at:end]
        for k in range(part.size):
            total = np.int32(
                np.int32(factor_a * np.int32(a[k])) + np.int32(factor_b * np.int32(b[k]))
            )
            code = np.int32(np.int32(total + start) >> places)
            part[k] = min(max(code, low), high)


@kernel("void(Spread,uint8[::1],int32[::1],uint8[::1],int64,int64)")
def _product_of_pairs(
    operands: Spread, scratch: Codes, constants: Int32, out: Codes, first: int, last: int
) -> None:
    zero_a, zero_b, centre, factor = constants[0], constants[1], constants[2], constants[3]
    offset, shift, low, high = constants[4], constants[5], constants[6], constants[7]
    shift = shift & np.int32(31)  # so that it is a shift of 32-bit lanes
    half = np.int32(np.int32(1) << shift >> np.int32(1))
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        a = chunk(operands, scratch[:CHUNK], 0, at, end)
        b = chunk(operands, scratch[CHUNK:], 1, at, end)
        part = out[at:end]
        for k in range(part.size):
            distances = np.int32(np.int32(a[k]) - zero_a) * np.int32(np.int32(b[k]) - zero_b)
            scaled = np.int32(np.int32(np.int32(distances) - centre) * factor)
            fine = np.int32(np.int32(np.int32(scaled + np.int32(1 << 14)) >> np.int32(15)) + offset)
            fine = min(max(fine, np.int32(-32768)), np.int32(32767))
            code = np.int32(np.int32(fine + half) >> shift)
            part[k] = min(max(code, low), high)


@record("int64,int64,int64,int64,int64,int64,int64")
class Division(NamedTuple):
    """The zero points of both operands and of the result, and the constants of the call."""

    zero_x: int
    zero_w: int
    zero_out: int
    scale: int
    shift: int
    low: int
    high: int


@unpacked
def quotient(call: LoweredQuotient, at: Buffers) -> Steps:
    """One operand divided by another."""
    x, w = (operand.zero_point for operand in call.inputs)
    division = Division(x, w, call.output.zero_point, call.scale, call.shift, call.low, call.high)
    arguments = (*spread(at.inputs, at.output), division, at.output.reshape(-1), *ROWS)
    return [Step(_quotient(at.output.dtype), arguments, at.output.size, grain=CHUNK)]


@template("void(Spread,{0}[::1],Division,{0}[::1],int64,int64)")
def _quotient(
    operands: Spread, scratch: Codes, division: Division, out: Codes, first: int, last: int
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        x = chunk(operands, scratch[:CHUNK], 0, at, end)
        w = chunk(operands, scratch[CHUNK:], 1, at, end)
        part = out[at:end]
        for k in range(part.size):
            n, d = np.int64(x[k]) - division.zero_x, np.int64(w[k]) - division.zero_w
            if d < 0:
                n, d = -n, -d
            code = np.int64(division.zero_out)
            if d > 0:
                unit = d << division.shift
                code += (2 * n * division.scale + unit) // (2 * unit)
            elif n > 0:
                code = np.int64(division.high)
            elif n < 0:
                code = np.int64(division.low)
            part[k] = min(max(code, division.low), division.high)  # type: ignore[assignment]


PREPARERS: Preparers = {
    LoweredExtremum: extremum_of_operands,
    LoweredProduct: product,
    LoweredSum: weighted_sum,
    LoweredPairProduct: pair_product,
    LoweredPairSum: pair_sum,
    LoweredQuotient: quotient,
}
