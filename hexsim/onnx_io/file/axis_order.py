"""Arithmetic of stored axis orders: what a reshape or transpose does to them.

An order lists, for each stored axis, the source axis it holds. A reshape keeps the source's
flat element index, so two (source shape, order) pairs hold the same elements in the same stored
sequence exactly if their `runs` are equal; whether a reshape moves data is decided that way.
"""

from collections.abc import Iterator, Sequence

from hexsim.graph.ir import Shape

Order = tuple[int, ...]


def identity(rank: int) -> Order:
    """The source's own order."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Source axis 1 moved behind all others: (0, 2, 3, 1) for images."""
    return identity(rank) if rank < 3 else (0, *range(2, rank), 1)


def without(axis: int, order: Order) -> Order:
    """Return the order of the remaining axes when a source axis of size one is dropped."""
    return tuple(other - (other > axis) for other in order if other != axis)


def stored_shape(source: Shape, order: Order) -> Shape:
    """Sizes in stored order."""
    return tuple(source[axis] for axis in order)


def runs(source: Shape, order: Order) -> tuple[tuple[int, int], ...]:
    """Return the stored sequence as (length, source stride) pairs, outermost first.

    Axes of size one are left out and axes that are neighbours in source and store are joined,
    so the result does not depend on how a shape is written.
    """
    strides = _strides(source)
    joined: list[tuple[int, int]] = []
    for axis in order:
        size, stride = source[axis], strides[axis]
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            size *= joined.pop()[0]
        joined.append((size, stride))
    return tuple(joined)


def reshaped(source: Shape, order: Order, target: Shape) -> Order | None:
    """Return a stored order for `target` that leaves the elements where they are, if any.

    Channels last is preferred for images, then source order, then whatever follows `order`.
    """
    stored_runs = runs(source, order)
    for candidate in _candidates(stored_runs, target):
        if runs(target, candidate) == stored_runs:
            return candidate
    return None


def transposed(order: Order, permutation: Sequence[int]) -> tuple[Order, Order]:
    """Return (output order, stored permutation) of a source transpose.

    If the elements can stay where they are and the output is then in source order or, for
    images, channels last, they stay; otherwise the output keeps the input's order.
    """
    rank = len(order)
    in_place = tuple(permutation.index(axis) for axis in order)
    natural = {identity(rank), channels_last(4)}
    result = in_place if in_place in natural else order
    return result, tuple(order.index(permutation[axis]) for axis in result)


def _strides(shape: Shape) -> Shape:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def _candidates(stored_runs: tuple[tuple[int, int], ...], target: Shape) -> Iterator[Order]:
    rank = len(target)
    if rank == 4:
        yield channels_last(4)
    yield identity(rank)
    yield _following(stored_runs, target)


def _following(stored_runs: tuple[tuple[int, int], ...], target: Shape) -> Order:
    """Order target axes by the position of the run that covers their stride; size one first."""
    strides = _strides(target)

    def place(axis: int) -> tuple[int, int]:
        if target[axis] > 1:
            for position, (length, stride) in enumerate(stored_runs):
                if stride <= strides[axis] < stride * length:
                    return position, axis
        return -1, axis

    return tuple(sorted(range(len(target)), key=place))
