"""Elementwise layers over operands spread to the output's shape."""

import numpy as np

from hexsim.int8.machine_code.jit import kernel, template
from hexsim.int8.panel import SUM_BYTES
from hexsim.int8.pointwise.movement import rescaled
from hexsim.int8.pointwise.operands import CHUNK, Spread, chunk, spread
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.requantize.constants import OneStage16, RequantizeStage, one_stage, one_stage_16bit
from hexsim.int8.requantize.run import requantize_run, requantize_sum
from hexsim.int8.requantize.scalar import requantize_16bit
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace
from hexsim.lowering.elementwise import LoweredExtremum, LoweredProduct, LoweredSum
from hexsim.lowering.lowered_call import Codes, Int32, Int64


@unpacked
def weighted_sum(call: LoweredSum, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Sum or difference: one signed factor per operand."""
    zero_points = np.array([x.zero_point for x in call.inputs], np.int64)
    start = np.int64(call.stage.preload[0]) - np.dot(zero_points, call.factors.astype(np.int64))
    # Sums wrap, so their constant part may wrap as well.
    stage = one_stage(call.stage, int(start.astype(np.int32)))
    arguments = (
        *spread(inputs, output), call.factors, stage, output.reshape(-1),
        FIRST, LAST, Scratch(CHUNK, np.int32),
    )  # fmt: skip
    return [Step(_sum(output.dtype), arguments, output.size, grain=CHUNK)]


@unpacked
def product(call: LoweredProduct, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Product of two or three operands."""
    zero_points = np.array([x.zero_point for x in call.inputs], np.int32)
    stage = one_stage(call.stage)
    arguments = (
        *spread(inputs, output), zero_points, stage, output.reshape(-1),
        FIRST, LAST, Scratch(CHUNK, np.int32),
    )  # fmt: skip
    return [Step(_product, arguments, output.size, grain=CHUNK)]


@unpacked
def product_16bit(call: LoweredProduct, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Product of two or three 16-bit operands, in 64 bits."""
    zero_points = np.array([x.zero_point for x in call.inputs], np.int64)
    stage = one_stage_16bit(call.stage)
    arguments = (
        *spread(inputs, output), zero_points, stage, output.reshape(-1),
        FIRST, LAST, Scratch(CHUNK, np.int64),
    )  # fmt: skip
    return [Step(_product_16bit, arguments, output.size, grain=CHUNK)]


@unpacked
def extremum_of_operands(
    call: LoweredExtremum, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Maximum or minimum of rescaled codes."""
    largest = call.kind == "max"
    work: list[Work] = []
    parts = []
    for codes, table in zip(inputs, call.tables, strict=True):
        part, before = rescaled(codes, table, workspace)
        parts.append(part)
        work += before
    arguments = (*spread(parts, output), largest, output.reshape(-1), FIRST, LAST)
    return [*work, Step(_extremum(output.dtype), arguments, output.size, grain=CHUNK)]


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


PREPARERS: Preparers = {
    LoweredExtremum: extremum_of_operands,
    LoweredProduct: product,
    LoweredSum: weighted_sum,
}
PREPARERS_16BIT: Preparers = {LoweredProduct: product_16bit}
