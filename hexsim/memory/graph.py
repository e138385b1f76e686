"""The graph of a subnet on its engine: nodes with tensors in an arena, and the memory on chip.

Inputs and outputs of the subnet are in its arena too: Hexagon NN allocates its Input nodes,
although it reads a suitable buffer directly.

Nodes are handled in the order in which they run. Each result takes the lowest free place that
is large enough; after the last node that reads it, the place is free again. So the
results of a node never overlap its operands. The arena ends at the end of its highest place.

Source: Hexagon NN, hexagon/src/allocate.c (documented).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from hexsim.graph.ir import Shape
from hexsim.planning.plan import PlannedSubnet
from hexsim.records import dataclass


@dataclass(frozen=True)
class ArenaNode:
    """A node: the tensors that it reads, and those that it makes with their bytes."""

    reads: tuple[Hashable, ...]
    makes: tuple[tuple[Hashable, int], ...]


@dataclass(frozen=True)
class ArenaBlock:
    """The place of a tensor, `offset` to `offset` + `size` bytes, from node `first` to `last`."""

    offset: int
    size: int
    first: int
    last: int

    @property
    def end(self) -> int:
        """The first byte after the block."""
        return self.offset + self.size


@dataclass(frozen=True)
class Arena:
    """The places of all tensors; `live` has the bytes that are in use while each node runs."""

    places: Mapping[Hashable, ArenaBlock]
    live: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the arena."""
        return max((place.end for place in self.places.values()), default=0)


def arrange(nodes: Sequence[ArenaNode]) -> Arena:
    """Return the arena of `nodes`; each tensor is made by one node.

    A tensor that no node reads has a place while its node runs. A tensor that no node makes, such
    as a constant, has no place in the arena.
    """
    last = {name: at for at, node in enumerate(nodes) for name, _ in node.makes}
    last |= {name: at for at, node in enumerate(nodes) for name in node.reads if name in last}
    last_reads: dict[int, list[Hashable]] = {}
    for name, at in last.items():
        last_reads.setdefault(at, []).append(name)
    free, used = _FreePlaces(), 0
    places: dict[Hashable, ArenaBlock] = {}
    live = []
    for at, node in enumerate(nodes):
        for name, size in node.makes:
            places[name] = ArenaBlock(free.take(size), size, at, last[name])
            used += size
        live.append(used)
        for name in last_reads.get(at, ()):
            free.give_back(places[name].offset, places[name].end)
            used -= places[name].size
    return Arena(places, tuple(live))


class _FreePlaces:
    """The free places in ascending order; the last one has no end."""

    def __init__(self) -> None:
        self._gaps: list[tuple[int, float]] = [(0, float("inf"))]

    def take(self, size: int) -> int:
        """Take `size` bytes from the first gap that is large enough; return their offset."""
        for at, (begin, end) in enumerate(self._gaps):
            if end - begin >= size:
                self._gaps[at : at + 1] = [(begin + size, end)] if begin + size < end else []
                return begin
        raise AssertionError("the last gap has no end")

    def give_back(self, begin: int, end: int) -> None:
        """Free a place and merge it with the gaps beside it."""
        self._gaps = list(_merged(sorted([*self._gaps, (begin, end)])))


def _merged(gaps: Iterable[tuple[int, float]]) -> Iterable[tuple[int, float]]:
    """Merge gaps that touch, and drop empty ones."""
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


Size = Callable[[str, Shape], int]
"""Bytes of a tensor of this name and shape."""


@dataclass(frozen=True)
class SubnetGraph:
    """The nodes of a subnet: those `before` its layers, one for each layer, and those `after`.

    `packed` and `on_chip` are the bytes of each layer, `scratch_bytes` are shared by all.
    """

    subnet: PlannedSubnet
    before: tuple[ArenaNode, ...]
    layers: tuple[ArenaNode, ...]
    after: tuple[ArenaNode, ...]
    packed: tuple[int, ...]
    on_chip: tuple[int, ...]
    scratch_bytes: int = 0

    @cached_property
    def arena(self) -> Arena:
        """The arena of its tensors."""
        return arrange([*self.before, *self.layers, *self.after])

    @property
    def live(self) -> tuple[int, ...]:
        """Bytes of the arena that are in use while each layer runs."""
        begin = len(self.before)
        return self.arena.live[begin : begin + len(self.layers)]


def input_node(subnet: PlannedSubnet, size: Size) -> ArenaNode:
    """Return a node that makes the inputs of a subnet."""
    inputs = zip(subnet.inputs, subnet.input_shapes, strict=True)
    return ArenaNode((), tuple((name, size(name, shape)) for name, shape in inputs))


def layer_nodes(
    subnet: PlannedSubnet, size: Size, elsewhere: Collection[str] = ()
) -> tuple[ArenaNode, ...]:
    """Return a node for each layer of a subnet; tensors in `elsewhere` are left out."""
    return tuple(
        ArenaNode(
            call.layer.inputs,
            tuple(
                (name, size(name, shape))
                for name, shape in zip(call.layer.outputs, call.results, strict=True)
                if name not in elsewhere
            ),
        )
        for call in subnet.calls
    )
