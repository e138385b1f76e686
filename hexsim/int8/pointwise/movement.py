"""Concat, rearrangements, slices, padding, gathers, colours: codes copied, rescaled if need be.

Copies are between two arrangements of the same elements in memory. One side or both may skip
elements, go backwards or repeat them: a transposition, a slice, a part of a larger tensor, an
operand spread to a larger shape and a constant. Neighbouring axes along which both sides have even
steps count as one axis. The innermost axis is one along which both sides have no gaps or, if there
is none, the longest.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.addresses import copy_run
from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.jit import kernel, subroutine, template
from hexsim.int8.pointwise.functions import look_up
from hexsim.int8.step import ROWS, Buffers, Out, Preparers, Step, Steps, Work, Workspace, unpacked
from hexsim.layers.images import YVU_ORIGIN
from hexsim.lowering.lowered_call import Codes, Int32, Int64
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

_GRAIN = 1024
"""The least number of elements in a piece."""


@record("int64,int64[::1],int64,int64[::1],int64[::1]")
class Paths(NamedTuple):
    """Ways through a flat source and a flat target: where element 0 is, and steps along each axis.

    There are at least two axes.
    """

    read_start: int
    read_steps: Int64
    write_start: int
    write_steps: Int64
    sizes: Int64


def copy(source: Out, target: Out) -> Step:
    """Return the step that copies `source` into `target`, views of one shape and type.

    Neither is copied itself: their memory must stay where it is.
    """
    sizes, strides = merged_axes(target.shape, [source.strides, target.strides])
    steps = np.array(strides, np.int64) // source.itemsize
    even = [axis for axis in range(len(sizes)) if sizes[axis] > 1 and np.all(steps[:, axis] == 1)]
    inner = even[0] if even else int(np.argmax(sizes))
    order = [*(axis for axis in range(len(sizes)) if axis != inner), inner]
    (read, read_start), (written, write_start) = _flat(source), _flat(target)
    paths = Paths(
        read_start, steps[0, order], write_start, steps[1, order],
        np.array(sizes, np.int64)[order],
    )  # fmt: skip
    arguments = (read, written, paths, *ROWS)
    return Step(_copy(source.dtype), arguments, math.prod(sizes), grain=_GRAIN)


def rows_along(
    axes: Sequence[int], source: Codes, target: Out, workspace: Workspace
) -> tuple[Codes, Out, list[Step], list[Step]]:
    """Return input and output as rows of the elements along `axes`, and the copies around them.

    These move the axes to the end before, and back after, if they are not there.
    """
    order = (*(axis for axis in range(target.ndim) if axis not in axes), *sorted(axes))
    source, target = source.transpose(order), target.transpose(order)
    length = math.prod(target.shape[target.ndim - len(axes) :])
    if order == tuple(range(target.ndim)):
        return source.reshape(-1, length), target.reshape(-1, length), [], []
    moved = workspace.empty(source.shape, source.dtype)
    result = workspace.empty(target.shape, target.dtype)
    around = [copy(source, moved)], [copy(result, target)]
    return moved.reshape(-1, length), result.reshape(-1, length), *around


def merged_axes(
    shape: Shape, steps: Sequence[Sequence[int]]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the shape and the steps of every array with as few axes as they need, at least two."""
    sizes: list[int] = []
    merged: list[tuple[int, ...]] = []
    for size, *strides in zip(shape, *steps, strict=True):
        if size == 1:
            continue
        if sizes and all(
            outer == size * inner for outer, inner in zip(merged[-1], strides, strict=True)
        ):
            sizes[-1], merged[-1] = sizes[-1] * size, tuple(strides)
        else:
            sizes.append(size)
            merged.append(tuple(strides))
    while len(sizes) < 2:
        sizes.insert(0, 1)
        merged.insert(0, (0,) * len(steps))
    return sizes, list(zip(*merged, strict=True))


def _flat(view: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """Return the memory of a view as a flat array, and where in it element 0 of the view is.

    The array keeps that memory alive.
    """
    size = view.itemsize
    reach = [(n - 1) * step // size for n, step in zip(view.shape, view.strides, strict=True)]
    directions = (slice(None, None, -1 if distance < 0 else 1) for distance in reach)
    index: tuple[Any, ...] = (*directions, ...)  # without the dots a scalar would be copied
    ascending = view[index]
    flat = as_strided(ascending, (sum(map(abs, reach)) + 1,), (size,))
    return flat, -sum(distance for distance in reach if distance < 0)


@template("void({0}[::1],{0}[::1],Paths,int64,int64)")
def _copy(source: Codes, target: Codes, paths: Paths, first: int, last: int) -> None:
    copy_elements(source, target, paths, first, last)


@subroutine
def copy_elements(source: Codes, target: Codes, paths: Paths, first: int, last: int) -> None:
    """Copy elements `first` to `last` - 1 in C order of the axes."""
    sizes, read_steps, write_steps = paths.sizes, paths.read_steps, paths.write_steps
    axes = sizes.size
    length, rows = sizes[axes - 1], sizes[axes - 2]
    read_step, write_step = read_steps[axes - 1], write_steps[axes - 1]
    at = first
    while at < last:
        row = at // length
        column = at - row * length
        plane = row // rows
        row -= plane * rows
        read = paths.read_start + row * read_steps[axes - 2] + column * read_step
        write = paths.write_start + row * write_steps[axes - 2] + column * write_step
        for axis in range(axes - 3, -1, -1):
            rest = plane // sizes[axis]
            read += (plane - rest * sizes[axis]) * read_steps[axis]
            write += (plane - rest * sizes[axis]) * write_steps[axis]
            plane = rest
        while row < rows and at < last:
            count = min(length - column, last - at)
            if read_step == 1 and write_step == 1:
                size = source.itemsize
                target_at, source_at = (
                    target.ctypes.data + write * size,
                    source.ctypes.data + read * size,
                )
                copy_run(target_at, source_at, count * size)
            elif read_step == 0 and write_step == 1:
                part, value = target[write : write + count], source[np.uint64(read)]
                for k in range(part.size):
                    part[k] = value
            else:
                for k in range(count):
                    value = source[np.uint64(read + k * read_step)]
                    target[np.uint64(write + k * write_step)] = value
            at += count
            row += 1
            read += read_steps[axes - 2] - column * read_step
            write += write_steps[axes - 2] - column * write_step
            column = 0


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
def concat(call: LoweredConcat, at: Buffers) -> Steps:
    """Inputs side by side along one axis."""
    work: list[Work] = []
    boundaries = np.cumsum([codes.shape[call.axis] for codes in at.inputs])[:-1]
    parts = np.split(at.output, boundaries, call.axis)
    for codes, table, part in zip(at.inputs, call.tables, parts, strict=True):
        source, before = rescaled(codes, table, at.workspace)
        work += [*before, copy(source, part)]
    return work


@unpacked
def rearrange(call: LoweredRearrange, at: Buffers) -> Steps:
    """Reshape, permute or channel shuffle."""
    moved = at.inputs[0].reshape(call.split).transpose(call.permutation)
    return [copy(moved, at.output.reshape(moved.shape)), *through(call.table, at.output)]


@unpacked
def strided_slice(call: LoweredSlice, at: Buffers) -> Steps:
    """Part of a tensor."""
    return [copy(at.inputs[0][call.selection], at.output), *through(call.table, at.output)]


@unpacked
def pad(call: LoweredPad, at: Buffers) -> Steps:
    """A tensor inside a larger one."""
    fill = np.full(1, call.fill, at.output.dtype)
    everywhere = as_strided(fill, at.output.shape, (0,) * at.output.ndim)
    inner, before = rescaled(at.inputs[0], call.table, at.workspace)
    return [copy(everywhere, at.output), *before, copy(inner, at.output[call.interior])]


@unpacked
def channel_pick(call: LoweredChannelPick, at: Buffers) -> Steps:
    """Channels in another order, some left out."""
    work: list[Work] = [
        copy(at.inputs[0][..., channel], at.output[..., place])
        for place, channel in enumerate(call.channels)
    ]
    return [*work, *through(call.table, at.output)]


@unpacked
def nv21(call: LoweredNv21, at: Buffers) -> Steps:
    """One plane of luma and interleaved chroma to pixels of three channels."""
    origin = np.array(YVU_ORIGIN, np.int32)
    arguments = (at.inputs[0][..., 0], call.matrix, origin, at.output, *ROWS)
    step = Step(_nv21, arguments, math.prod(at.output.shape[:2]))
    return [step, *through(call.table, at.output)]


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
def gather(call: LoweredGather, at: Buffers) -> Steps:
    """Codes from positions of one or more axes; between two axes they lie in the workspace."""
    if not call.places:
        return [copy(at.inputs[0], at.output), *through(call.table, at.output)]
    work: list[Work] = []
    codes: Out = at.inputs[0]
    last = len(call.places) - 1
    for number, (axis, places) in enumerate(call.places):
        shape = (*codes.shape[:axis], len(places), *codes.shape[axis + 1 :])
        out = at.output if number == last else at.workspace.empty(shape, codes.dtype)
        work.append(_gather_step(codes, axis, places, out))
        codes = out
    return [*work, *through(call.table, at.output)]


@unpacked
def tile(call: LoweredTile, at: Buffers) -> Steps:
    """A copy from a source that does not move along the axis of the repeats."""
    sizes = at.inputs[0].shape
    pairs = zip(call.repeats, sizes, strict=True)
    spread = tuple(size for pair in pairs for size in pair)
    steps = tuple(step for stride in at.inputs[0].strides for step in (0, stride))
    source = as_strided(at.inputs[0], spread, steps)
    return [copy(source, at.output.reshape(spread)), *through(call.table, at.output)]


def _gather_step(codes: Out, axis: int, places: Int32, out: Out) -> Step:
    outer, inner = math.prod(codes.shape[:axis]), math.prod(codes.shape[axis + 1 :])
    arguments = (
        codes.reshape(outer, codes.shape[axis], inner), places,
        out.reshape(outer, len(places), inner), *ROWS,
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
