"""Copies between two arrangements of the same elements in memory.

One side or both may skip elements, go backwards or repeat them: a transposition, a slice, a part of
a larger tensor, an operand spread to a larger shape and a constant are all copies of this kind.
Neighbouring axes along which both sides have even steps count as one axis. The innermost axis is
one along which both sides have no gaps or, if there is none, the longest.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.addresses import copy_run
from hexsim.int8.machine_code.jit import subroutine, template
from hexsim.int8.machine_code.record import record
from hexsim.int8.step import FIRST, LAST, Out, Step, Workspace
from hexsim.lowering.lowered_call import Codes, Int64

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
    inner = _innermost(sizes, steps)
    order = [*(axis for axis in range(len(sizes)) if axis != inner), inner]
    (read, read_start), (written, write_start) = _flat(source), _flat(target)
    paths = Paths(
        read_start, steps[0, order], write_start, steps[1, order],
        np.array(sizes, np.int64)[order],
    )  # fmt: skip
    arguments = (read, written, paths, FIRST, LAST)
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


def _innermost(sizes: Sequence[int], steps: Int64) -> int:
    even = [axis for axis in range(len(sizes)) if sizes[axis] > 1 and np.all(steps[:, axis] == 1)]
    return even[0] if even else int(np.argmax(sizes))


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
