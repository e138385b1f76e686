"""Places in an arena: first fit in the order of execution, beside a naive reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from hexsim.memory.graph import Arena, ArenaBlock, ArenaNode, arrange


def naive_live(nodes: Sequence[ArenaNode]) -> list[int]:
    """Look for every node through all that was made, and through all that is still read."""
    live = []
    for at in range(len(nodes)):
        read = {name for node in nodes[at:] for name in node.reads}
        made = [item for node in nodes[: at + 1] for item in node.makes]
        live.append(
            sum(size for name, size in made if name in read or (name, size) in nodes[at].makes)
        )
    return live


def naive_offset(size: int, taken: Sequence[ArenaBlock]) -> int:
    """Try every byte from the bottom on which a place could begin."""
    for offset in sorted({0, *(place.end for place in taken)}):
        if all(offset + size <= place.offset or place.end <= offset for place in taken):
            return offset
    raise AssertionError


def naive(nodes: Sequence[ArenaNode]) -> dict[object, int]:
    """Offsets by a search over everything that is live when a tensor is made."""
    last = {name: at for at, node in enumerate(nodes) for name, _ in node.makes}
    for at, node in enumerate(nodes):
        last |= {name: at for name in node.reads if name in last}
    placed: dict[object, ArenaBlock] = {}
    for at, node in enumerate(nodes):
        for name, size in node.makes:
            taken = [place for place in placed.values() if place.last >= at]
            placed[name] = ArenaBlock(naive_offset(size, taken), size, at, last[name])
    return {name: place.offset for name, place in placed.items()}


@st.composite
def graphs(draw: st.DrawFn) -> list[ArenaNode]:
    """Nodes that read some of what was made before, and make up to two tensors."""
    nodes: list[ArenaNode] = []
    names: list[str] = []
    for at in range(draw(st.integers(1, 12))):
        reads = draw(st.lists(st.sampled_from(names), max_size=3)) if names else []
        sizes = draw(st.lists(st.integers(1, 9), max_size=2))
        makes = tuple((f"{at}.{n}", size) for n, size in enumerate(sizes))
        nodes.append(ArenaNode((*reads, "a constant"), makes))
        names += [name for name, _ in makes]
    return nodes


@given(graphs())
def test_it_is_the_naive_reference(nodes: list[ArenaNode]) -> None:
    arena = arrange(nodes)
    assert {name: place.offset for name, place in arena.places.items()} == naive(nodes)
    assert list(arena.live) == naive_live(nodes)


@given(graphs())
def test_what_is_live_together_does_not_overlap(nodes: list[ArenaNode]) -> None:
    for place, other in combinations(arrange(nodes).places.values(), 2):
        together = place.first <= other.last and other.first <= place.last
        assert not together or place.end <= other.offset or other.end <= place.offset


@given(graphs())
def test_the_arena_holds_what_is_live_and_no_more_than_all(nodes: list[ArenaNode]) -> None:
    arena = arrange(nodes)
    every = sum(size for node in nodes for _, size in node.makes)
    assert max(arena.live) <= arena.size <= every


def chain(*sizes: int) -> Arena:
    """A tensor after the other, each read by the node that makes the next."""
    nodes = [
        ArenaNode((f"{at - 1}",) if at else (), ((f"{at}", size),)) for at, size in enumerate(sizes)
    ]
    return arrange(nodes)


def test_a_dead_tensor_leaves_its_place() -> None:
    """The third lies where the first was; the second is its operand and is not touched."""
    arena = chain(10, 10, 10)
    assert [arena.places[name].offset for name in ("0", "1", "2")] == [0, 10, 0]
    assert (arena.size, arena.live) == (20, (10, 20, 20))


def test_a_gap_that_is_too_small_stays_one() -> None:
    """So an arena may be larger than what is ever live in it."""
    arena = chain(4, 8, 16)
    assert arena.places["2"].offset == 12
    assert (arena.size, max(arena.live)) == (28, 24)


def test_nothing_takes_nothing() -> None:
    assert arrange([]).size == 0
