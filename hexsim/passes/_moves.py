"""Where elements come from, after reshapes and permutes.

A sequence of elements is told by runs, outermost first: (length, stride) in the flat index of the
tensor that they come from. Runs that are neighbours in both are joined and those of length one left
out, so two ways to move elements are the same if their runs are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hexsim.graph.ir import Shape

Runs = tuple[tuple[int, int], ...]


def in_place(shape: Shape) -> Runs:
    """Elements as they lie."""
    return _joined([(math.prod(shape), 1)])


def permuted(runs: Runs, shape: Shape, permutation: Sequence[int]) -> Runs | None:
    """Runs of elements seen under `shape` whose axes are permuted; None if an axis breaks a run."""
    axes = _by_axis(runs, shape)
    if axes is None:
        return None
    return _joined([run for axis in permutation for run in axes[axis]])


def view(runs: Runs) -> tuple[Shape, tuple[int, ...]]:
    """The shape of fewest axes, and the permutation of it, that make these runs."""
    order = sorted(range(len(runs)), key=lambda run: -runs[run][1])
    shape = tuple(runs[run][0] for run in order)
    return shape, tuple(order.index(run) for run in range(len(runs)))


def _by_axis(runs: Runs, shape: Shape) -> list[list[tuple[int, int]]] | None:
    """The runs that each axis holds."""
    left = list(runs)
    axes: list[list[tuple[int, int]]] = []
    for size in reversed(shape):
        axis: list[tuple[int, int]] = []
        while size > 1:
            length, stride = left.pop()
            if length > size:
                if length % size:
                    return None
                left.append((length // size, stride * size))
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
