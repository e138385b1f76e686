"""Describes where elements come from, after reshapes and permutes.

A sequence of elements is described by runs, outermost first: (length, stride) in the flat index of
the source tensor. Contiguous neighbouring runs are joined and runs of length one left out, so two
rearrangements are equal if their runs are.
"""

import math
from collections.abc import Sequence

from hexsim.graph.ir import Shape

Runs = tuple[tuple[int, int], ...]


def in_place(shape: Shape) -> Runs:
    """Return the runs of elements in their original order."""
    return _joined([(math.prod(shape), 1)])


def permuted(runs: Runs, shape: Shape, permutation: Sequence[int]) -> Runs | None:
    """Return the runs with the axes of `shape` permuted; None if an axis splits a run unevenly."""
    axes = _by_axis(runs, shape)
    if axes is None:
        return None
    return _joined([run for axis in permutation for run in axes[axis]])


def view(runs: Runs) -> tuple[Shape, tuple[int, ...]]:
    """Return the shape with the fewest axes, and its permutation, that give these runs."""
    order = sorted(range(len(runs)), key=lambda run: -runs[run][1])
    shape = tuple(runs[run][0] for run in order)
    return shape, tuple(order.index(run) for run in range(len(runs)))


def _by_axis(runs: Runs, shape: Shape) -> list[list[tuple[int, int]]] | None:
    """Return the runs of each axis."""
    remaining = list(runs)
    axes: list[list[tuple[int, int]]] = []
    for size in reversed(shape):
        axis: list[tuple[int, int]] = []
        while size > 1:
            length, stride = remaining.pop()
            if length > size:
                if length % size:
                    return None
                remaining.append((length // size, stride * size))
                length = size
            elif size % length:
                return None
            axis.insert(0, (length, stride))
            size //= length
        axes.insert(0, axis)
    return axes


def _joined(runs: Sequence[tuple[int, int]]) -> Runs:
    joined: list[tuple[int, int]] = []
    for length, stride in runs:
        if length == 1:
            continue
        if joined and joined[-1][1] == length * stride:
            joined[-1] = (joined[-1][0] * length, stride)
        else:
            joined.append((length, stride))
    return tuple(joined)
