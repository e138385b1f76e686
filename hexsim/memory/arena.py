"""An arena of activations: places that are found once, before the first inference.

Nodes are walked in the order in which they run. What a node makes takes the first free place that
is large enough, from the bottom; after the last node that reads it, the place is free again. So a
node's results never lie where its operands are. The arena is as large as its highest place.

Source: Hexagon NN, hexagon/src/allocate.c (documented).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ArenaNode:
    """What runs: the tensors it reads, and those it makes with their bytes."""

    reads: tuple[Hashable, ...]
    makes: tuple[tuple[Hashable, int], ...]


@dataclass(frozen=True)
class ArenaBlock:
    """Where a tensor lies, `offset` to `offset` + `size` in bytes, from node `first` to `last`."""

    offset: int
    size: int
    first: int
    last: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.size


@dataclass(frozen=True)
class Arena:
    """Where everything lies; `live` has the bytes that are in use while each node runs."""

    places: Mapping[Hashable, ArenaBlock]
    live: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the arena."""
        return max((place.end for place in self.places.values()), default=0)


def arranged(nodes: Sequence[ArenaNode]) -> Arena:
    """Return the arena of `nodes`, in which every name is made once.

    A tensor that nobody reads is there while it is made. What is read and not made, such as a
    constant, is not in the arena.
    """
    last = {name: at for at, node in enumerate(nodes) for name, _ in node.makes}
    last |= {name: at for at, node in enumerate(nodes) for name in node.reads if name in last}
    ending: dict[int, list[Hashable]] = {}
    for name, at in last.items():
        ending.setdefault(at, []).append(name)
    free, used = _FreePlaces(), 0
    places: dict[Hashable, ArenaBlock] = {}
    live = []
    for at, node in enumerate(nodes):
        for name, size in node.makes:
            places[name] = ArenaBlock(free.take(size), size, at, last[name])
            used += size
        live.append(used)
        for name in ending.get(at, ()):
            free.give_back(places[name].offset, places[name].end)
            used -= places[name].size
    return Arena(places, tuple(live))


class _FreePlaces:
    """The gaps, from the lowest to the last, which has no end."""

    def __init__(self) -> None:
        self._gaps: list[tuple[int, float]] = [(0, float("inf"))]

    def take(self, size: int) -> int:
        """Return the offset of the first gap that holds `size` bytes, and fill it so far."""
        for at, (begin, end) in enumerate(self._gaps):
            if end - begin >= size:
                self._gaps[at : at + 1] = [(begin + size, end)] if begin + size < end else []
                return begin
        raise AssertionError("the last gap has no end")

    def give_back(self, begin: int, end: int) -> None:
        """Make a place a gap, one with the gaps beside it."""
        self._gaps = list(_merged(sorted([*self._gaps, (begin, end)])))


def _merged(gaps: Iterable[tuple[int, float]]) -> Iterable[tuple[int, float]]:
    """Yield sorted gaps, those that touch as one; an empty one is none."""
    begin, end = -1, -1.0
    for low, high in gaps:
        if low == high:
            continue
        if low == end:
            end = high
            continue
        if end > begin:
            yield begin, end
        begin, end = low, high
    if end > begin:
        yield begin, end
