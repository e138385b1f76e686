"""MatMul of two computed operands: a row of the result at a time."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.machine_code.record import record
from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.requantize.constants import OneStage16, RequantizeStage, one_stage, one_stage_16bit
from hexsim.int8.requantize.run import requantize_run
from hexsim.int8.requantize.scalar import requantize_16bit
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.mat_mul import LoweredMatMul


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


class PreparedMatMul:
    """Batches are numbered; tables say which matrix of each operand belongs to each batch."""

    def __init__(self, call: LoweredMatMul) -> None:
        self._call = call
        self._wide = call.stage.fraction_bits > 0
        outer = call.output.shape[:-2]
        self._of_first, self._of_second = (_matrices(x.shape[:-2], outer) for x in call.inputs)
        self._zero_points = [x.zero_point for x in call.inputs]

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        first, second = (codes.reshape(-1, *codes.shape[-2:]) for codes in inputs)
        result = output.reshape(-1, output.shape[-1])
        stage = one_stage_16bit(self._call.stage) if self._wide else one_stage(self._call.stage)
        kind = Matrices16 if self._wide else Matrices
        zero_first, zero_second = self._zero_points
        arguments = (
            kind(first, self._of_first, zero_first), kind(second, self._of_second, zero_second),
            self._call.transposed, stage, result, FIRST, LAST,
            Scratch(output.shape[-1], np.int64 if self._wide else np.int32),
        )  # fmt: skip
        return [Step(_product_16bit if self._wide else _product, arguments, len(result))]


def _matrices(own: Shape, outer: Shape) -> Int64:
    """Return the number of an operand's matrix for each matrix of the result."""
    numbers = np.arange(math.prod(own), dtype=np.int64).reshape(own)
    return np.ascontiguousarray(np.broadcast_to(numbers, outer)).reshape(-1)


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


PREPARERS: Preparers = {LoweredMatMul: PreparedMatMul}
PREPARERS_16BIT: Preparers = {LoweredMatMul: PreparedMatMul}
