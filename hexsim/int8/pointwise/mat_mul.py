"""MatMul of two computed operands: a row of the result at a time."""

import math
from typing import NamedTuple

import numpy as np

from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.requantize import (
    OneStage16,
    RequantizeStage,
    one_stage,
    one_stage_16bit,
    requantize_16bit,
    requantize_run,
)
from hexsim.int8.step import ROWS, Buffers, Out, Preparers, Scratch, Step, Steps, unpacked
from hexsim.lowering.lowered_call import Codes, Int32, Int64, Operand
from hexsim.lowering.products import LoweredMatMul


@record("uint8[:,:,::1],int64[::1],int64")
class Matrices(NamedTuple):
    """An operand: its matrices, which of them belongs to each of the result, its zero point."""

    codes: Codes
    numbers: Int64
    zero_point: int


@record("uint16[:,:,::1],int64[::1],int64")
class Matrices16(NamedTuple):
    """The same for 16-bit operands."""

    codes: Codes
    numbers: Int64
    zero_point: int


@unpacked
def mat_mul(call: LoweredMatMul, at: Buffers) -> Steps:
    """Batches are numbered; tables say which matrix of each operand belongs to each batch."""
    wide = call.stage.fraction_bits > 0
    kind = Matrices16 if wide else Matrices
    operands = (
        kind(codes.reshape(-1, *codes.shape[-2:]), _matrices(x, at.output), x.zero_point)
        for x, codes in zip(call.inputs, at.inputs, strict=True)
    )
    result = at.output.reshape(-1, at.output.shape[-1])
    arguments = (
        *operands, call.transposed,
        one_stage_16bit(call.stage) if wide else one_stage(call.stage), result, *ROWS,
        Scratch(at.output.shape[-1], np.int64 if wide else np.int32),
    )  # fmt: skip
    return [Step(_product_16bit if wide else _product, arguments, len(result))]


def _matrices(operand: Operand, result: Out) -> Int64:
    own = operand.shape[:-2]
    numbers = np.arange(math.prod(own), dtype=np.int64).reshape(own)
    return np.ascontiguousarray(np.broadcast_to(numbers, result.shape[:-2])).reshape(-1)


@kernel("void(Matrices,Matrices,int64,RequantizeStage,uint8[:,::1],int64,int64,int32[::1])")
def _product(
    a: Matrices,
    b: Matrices,
    transposed: int,
    stage: RequantizeStage,
    out: Codes,
    first: int,
    last: int,
    sums: Int32,
) -> None:
    rows, depth = a.codes.shape[1], a.codes.shape[2]
    for row in range(first, last):
        left_row = a.codes[a.numbers[row // rows], row % rows]
        matrix = b.codes[b.numbers[row // rows]]
        sums[:] = stage.preload
        if transposed:
            for n in range(sums.size):
                column = matrix[n]
                total = np.int32(0)
                for k in range(depth):
                    distance = np.int32(np.int32(left_row[k]) - np.int32(a.zero_point))
                    total += np.int32(
                        distance * np.int32(np.int32(column[k]) - np.int32(b.zero_point))
                    )
                sums[n] = np.int32(sums[n] + total)
        else:
            for k in range(depth):
                distance = np.int32(np.int32(left_row[k]) - np.int32(a.zero_point))
                right_row = matrix[k]
                for n in range(sums.size):
                    other = np.int32(np.int32(right_row[n]) - np.int32(b.zero_point))
                    sums[n] = np.int32(sums[n] + np.int32(distance * other))
        requantize_run(sums, stage, out[row])


@kernel("void(Matrices16,Matrices16,int64,OneStage16,uint16[:,::1],int64,int64,int64[::1])")
def _product_16bit(
    a: Matrices16,
    b: Matrices16,
    transposed: int,
    stage: OneStage16,
    out: Codes,
    first: int,
    last: int,
    sums: Int64,
) -> None:
    rows, depth = a.codes.shape[1], a.codes.shape[2]
    for row in range(first, last):
        left_row = a.codes[a.numbers[row // rows], row % rows]
        matrix = b.codes[b.numbers[row // rows]]
        sums[:] = stage.preload
        if transposed:
            for n in range(sums.size):
                column = matrix[n]
                total = np.int64(0)
                for k in range(depth):
                    total += (np.int64(left_row[k]) - a.zero_point) * (
                        np.int64(column[k]) - b.zero_point
                    )
                sums[n] += total
        else:
            for k in range(depth):
                distance = np.int64(left_row[k]) - a.zero_point
                right_row = matrix[k]
                for n in range(sums.size):
                    sums[n] += distance * (np.int64(right_row[n]) - b.zero_point)
        part = out[row]
        for n in range(part.size):
            part[n] = requantize_16bit(
                sums[n], stage.multiplier, stage.shift, stage.fraction_bits, stage.low, stage.high
            )


PREPARERS: Preparers = {LoweredMatMul: mat_mul}
PREPARERS_16BIT: Preparers = {LoweredMatMul: mat_mul}
