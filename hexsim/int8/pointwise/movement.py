"""Concat, rearrangements, slices, padding: codes are copied, rescaled where encodings differ.

Colour conversions: bytes in another order, and NV21 in 32-bit sums.

Gather, one axis after the other, and tiles: codes repeated.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hexsim.int8.machine_code.jit import kernel, template
from hexsim.int8.pointwise.functions import look_up
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.step import (
    FIRST,
    LAST,
    Inputs,
    Out,
    Preparers,
    Step,
    Steps,
    Work,
    Workspace,
    unpacked,
)
from hexsim.layers.images import YVU_ORIGIN
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.movement import (
    MATRIX_BITS,
    LoweredChannelPick,
    LoweredConcat,
    LoweredGather,
    LoweredNv21,
    LoweredPad,
    LoweredRearrange,
    LoweredSlice,
    LoweredTile,
)


def rescaled(codes: Codes, table: Codes | None, workspace: Workspace) -> tuple[Codes, list[Work]]:
    """Return `codes` through `table`, and the work that makes them; `codes` without one."""
    if table is None:
        return codes, []
    result = workspace.empty(codes.shape, table.dtype)
    return result, [look_up(codes, table.reshape(1, -1), result)]


def through(table: Codes | None, codes: Out) -> list[Work]:
    """Return the work that rescales `codes` where they are."""
    return [] if table is None else [look_up(codes, table.reshape(1, -1), codes)]


@unpacked
def concat(call: LoweredConcat, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Inputs side by side along one axis."""
    work: list[Work] = []
    boundaries = np.cumsum([codes.shape[call.axis] for codes in inputs])[:-1]
    parts = np.split(output, boundaries, call.axis)
    for codes, table, part in zip(inputs, call.tables, parts, strict=True):
        source, before = rescaled(codes, table, workspace)
        work += [*before, copy(source, part)]
    return work


@unpacked
def rearrange(call: LoweredRearrange, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Reshape, permute or channel shuffle."""
    moved = inputs[0].reshape(call.split).transpose(call.permutation)
    return [copy(moved, output.reshape(moved.shape)), *through(call.table, output)]


@unpacked
def strided_slice(call: LoweredSlice, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Part of a tensor."""
    return [copy(inputs[0][call.selection], output), *through(call.table, output)]


@unpacked
def pad(call: LoweredPad, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """A tensor inside a larger one."""
    fill = np.full(1, call.fill, output.dtype)
    everywhere = as_strided(fill, output.shape, (0,) * output.ndim)
    inner, before = rescaled(inputs[0], call.table, workspace)
    return [copy(everywhere, output), *before, copy(inner, output[call.interior])]


@unpacked
def channel_pick(
    call: LoweredChannelPick, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Channels in another order, some left out."""
    work: list[Work] = [
        copy(inputs[0][..., channel], output[..., place])
        for place, channel in enumerate(call.channels)
    ]
    return [*work, *through(call.table, output)]


@unpacked
def nv21(call: LoweredNv21, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """One plane of luma and interleaved chroma to pixels of three channels."""
    origin = np.array(YVU_ORIGIN, np.int32)
    arguments = (inputs[0][..., 0], call.matrix, origin, output, FIRST, LAST)
    step = Step(_nv21, arguments, math.prod(output.shape[:2]))
    return [step, *through(call.table, output)]


@kernel("void(uint8[:,:,:],int32[:,::1],int32[::1],uint8[:,:,:,::1],int64,int64)")
def _nv21(planes: Codes, matrix: Int32, origin: Int32, out: Codes, first: int, last: int) -> None:
    height = out.shape[1]
    for row_of_all in range(first, last):
        n = row_of_all // height
        row = row_of_all - n * height
        luma, chroma = planes[n, row], planes[n, height + row // 2]
        for column in range(out.shape[2]):
            pair = column // 2 * 2
            y = np.int32(luma[column]) - origin[0]
            v = np.int32(chroma[pair]) - origin[1]
            u = np.int32(chroma[pair + 1]) - origin[2]
            for colour in range(3):
                total = matrix[0, colour] * y + matrix[1, colour] * v + matrix[2, colour] * u
                code = (total + (1 << (MATRIX_BITS - 1))) >> MATRIX_BITS
                out[n, row, column, colour] = min(max(code, 0), 255)


@unpacked
def gather(call: LoweredGather, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Codes from positions of one or more axes; between two axes they lie in the workspace."""
    if not call.places:
        return [copy(inputs[0], output), *through(call.table, output)]
    work: list[Work] = []
    codes: Out = inputs[0]
    last = len(call.places) - 1
    for number, (axis, places) in enumerate(call.places):
        shape = (*codes.shape[:axis], len(places), *codes.shape[axis + 1 :])
        out = output if number == last else workspace.empty(shape, codes.dtype)
        work.append(_gather_step(codes, axis, places, out))
        codes = out
    return [*work, *through(call.table, output)]


@unpacked
def tile(call: LoweredTile, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """A copy from a source that does not move along the axis of the repeats."""
    sizes = inputs[0].shape
    pairs = zip(call.repeats, sizes, strict=True)
    spread = tuple(size for pair in pairs for size in pair)
    steps = tuple(step for stride in inputs[0].strides for step in (0, stride))
    source = as_strided(inputs[0], spread, steps)
    return [copy(source, output.reshape(spread)), *through(call.table, output)]


def _gather_step(codes: Out, axis: int, places: Int32, out: Out) -> Step:
    outer, inner = math.prod(codes.shape[:axis]), math.prod(codes.shape[axis + 1 :])
    arguments = (
        codes.reshape(outer, codes.shape[axis], inner), places,
        out.reshape(outer, len(places), inner), FIRST, LAST,
    )  # fmt: skip
    return Step(_gather(codes.dtype), arguments, outer * len(places))


@template("void({0}[:,:,::1],int32[::1],{0}[:,:,::1],int64,int64)")
def _gather(x: Codes, places: Int32, out: Out, first: int, last: int) -> None:
    for row in range(first, last):
        block = row // places.size
        at = row - block * places.size
        source, target = x[block, places[at]], out[block, at]
        for k in range(target.size):
            target[k] = source[k]


PREPARERS: Preparers = {
    LoweredConcat: concat,
    LoweredPad: pad,
    LoweredRearrange: rearrange,
    LoweredSlice: strided_slice,
    LoweredChannelPick: channel_pick,
    LoweredNv21: nv21,
    LoweredGather: gather,
    LoweredTile: tile,
}
