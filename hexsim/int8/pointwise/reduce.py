"""Reductions along any axes.

The axes that are reduced are brought together, if they are not neighbours already. Then a tensor is
blocks of positions; each position is a row of numbers that are reduced side by side.

Positions of extremes along one axis; numbers along later axes are searched side by side.
"""

import math
from collections.abc import Sequence

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.jit import template
from hexsim.int8.panel import SUM_BYTES
from hexsim.int8.pointwise.movement import copy, through
from hexsim.int8.requantize import RequantizeStage, one_stage, requantize
from hexsim.int8.step import (
    ROWS,
    Buffers,
    Out,
    Preparers,
    Scratch,
    Step,
    Steps,
    Work,
    Workspace,
    unpacked,
)
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.reduce import LoweredArgExtremum, LoweredReduceExtremum, LoweredReduceSum


@unpacked
def reduce_sum(call: LoweredReduceSum, at: Buffers) -> Steps:
    """A sum or mean."""
    zero_point = call.inputs[0].zero_point
    blocks, before = _blocks(at.inputs[0], call.axes, at.workspace)
    # Sums wrap, so the zero points of all positions are a constant.
    start = int(call.stage.preload[0]) - zero_point * blocks.shape[1]
    start = (start + (1 << 31)) % (1 << 32) - (1 << 31)
    rows = at.output.reshape(blocks.shape[0], blocks.shape[2])
    arguments = (
        blocks, one_stage(call.stage, start), rows, *ROWS,
        Scratch(blocks.shape[2], np.int32),
    )  # fmt: skip
    return [*before, Step(_sum(at.output.dtype), arguments, len(rows))]


@unpacked
def reduce_extremum(call: LoweredReduceExtremum, at: Buffers) -> Steps:
    """A maximum or minimum, then the table."""
    largest = call.kind == "max"
    blocks, before = _blocks(at.inputs[0], call.axes, at.workspace)
    rows = at.output.reshape(blocks.shape[0], blocks.shape[2])
    arguments = (blocks, largest, rows, *ROWS)
    step = Step(_extremum(at.output.dtype), arguments, len(rows))
    return [*before, step, *through(call.table, at.output)]


def _blocks(codes: Codes, axes: Sequence[int], workspace: Workspace) -> tuple[Codes, list[Work]]:
    """Return the codes as (blocks, positions, numbers), and the work that brings them there."""
    order, inner = _order(codes.shape, axes)
    turned = codes.transpose(order)
    count = math.prod(codes.shape[axis] for axis in axes)
    shape = (codes.size // count // inner, count, inner)
    if order == tuple(range(codes.ndim)):
        return codes.reshape(shape), []
    moved = workspace.empty(turned.shape, codes.dtype)
    return moved.reshape(shape), [copy(turned, moved)]


def _order(shape: Shape, axes: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Return the order of the axes, and how many numbers of a position are reduced separately.

    The order does not change if only axes of size one lie between those that are reduced; else
    these become the last axes.
    """
    long = [axis for axis in range(len(shape)) if shape[axis] > 1]
    reduced = [axis for axis in long if axis in axes]
    if reduced:
        first, last = reduced[0], reduced[-1]
        if all(axis in axes for axis in long if first <= axis <= last):
            return tuple(range(len(shape))), math.prod(shape[last + 1 :])
    others = tuple(axis for axis in range(len(shape)) if axis not in axes)
    return (*others, *axes), 1


@template("void(uint8[:,:,::1],RequantizeStage,{0}[:,::1],int64,int64,int32[::1])")
def _sum(x: Codes, stage: RequantizeStage, out: Out, first: int, last: int, sums: Int32) -> None:
    for row in range(first, last):
        block = x[row]
        if sums.size == 1:
            total = np.int32(stage.preload)
            for k in range(block.shape[0]):
                total = np.int32(total + np.int32(block[k, 0]))
            sums[0] = total
        else:
            sums[:] = stage.preload
            for k in range(block.shape[0]):
                position = block[k]
                for c in range(sums.size):
                    sums[c] = np.int32(sums[c] + np.int32(position[c]))
        codes = out[row]
        if out.itemsize == SUM_BYTES:
            for c in range(sums.size):
                codes[c] = sums[c]
        else:
            for c in range(sums.size):
                codes[c] = requantize(sums[c], stage.multiplier, stage.shift, stage.low, stage.high)


@template("void({0}[:,:,::1],int64,{0}[:,::1],int64,int64)")
def _extremum(x: Codes, largest: int, out: Codes, first: int, last: int) -> None:
    for row in range(first, last):
        block, best = x[row], out[row]
        for c in range(best.size):
            best[c] = block[0, c]
        for k in range(1, block.shape[0]):
            position = block[k]
            if largest:
                for c in range(best.size):
                    best[c] = max(best[c], position[c])
            else:
                for c in range(best.size):
                    best[c] = min(best[c], position[c])


@unpacked
def arg_extremum(call: LoweredArgExtremum, at: Buffers) -> Steps:
    """The position of the first largest or smallest code."""
    largest = call.kind == "max"
    shape, axis = at.inputs[0].shape, call.axis
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    arguments = (
        at.inputs[0].reshape(outer, shape[axis], inner), call.codes, largest,
        at.output.reshape(outer, inner), *ROWS,
        Scratch(inner, at.output.dtype), Scratch(inner, np.int32),
    )  # fmt: skip
    return [Step(_places(at.output.dtype), arguments, outer)]


@template("void({0}[:,:,::1],{0}[::1],int64,{0}[:,::1],int64,int64,{0}[::1],int32[::1])")
def _places(
    x: Codes,
    codes: Codes,
    largest: int,
    out: Out,
    first: int,
    last: int,
    best: Codes,
    places: Int32,
) -> None:
    for row in range(first, last):
        block = x[row]
        for c in range(best.size):
            best[c] = block[0, c]
            places[c] = 0
        for k in range(1, block.shape[0]):
            position = block[k]
            for c in range(best.size):
                code = position[c]
                better = code > best[c] if largest else code < best[c]
                if better:
                    best[c] = code
                    places[c] = k
        for c in range(best.size):
            out[row, c] = codes[places[c]]


PREPARERS: Preparers = {
    LoweredReduceExtremum: reduce_extremum,
    LoweredReduceSum: reduce_sum,
    LoweredArgExtremum: arg_extremum,
}
