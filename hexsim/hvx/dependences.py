"""The dependences between instructions, which a scheduler has to respect.

Names are values, so only true dependences count (registers are renamed; `registers.py` checks that
32 are enough). A value read before it is written in a loop body is that of the previous iteration.
Some values have one register only, so their readers must also come before the next write: addresses
that a load or store writes back, values updated in place (`x = add(x, 1)`) and the Z register.

`.cur`, `.tmp` and `.new` forms pass a value inside one packet. A `.tmp` load is tied to all its
readers, a `.cur` load to its first reader, a `.new` store to its producer; tied instructions form a
node and are always issued together.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from hexsim.errors import HexsimError
from hexsim.hvx.isa import HvxMachine, latency
from hexsim.hvx.packets import Insn, parts
from hexsim.records import dataclass


@dataclass(frozen=True)
class Edge:
    """`to` starts at least `packets` after `of`, `distance` iterations earlier."""

    of: int
    to: int
    packets: int
    distance: int


@dataclass(frozen=True)
class DependenceGraph:
    """nodes: indices of the instructions tied together; edges between nodes; classes: class names
    of all instructions of each node, for each packet from its start on."""

    insns: tuple[Insn, ...]
    nodes: tuple[tuple[int, ...], ...]
    edges: tuple[Edge, ...]
    classes: tuple[tuple[tuple[str, ...], ...], ...]


def instruction_edges(machine: HvxMachine, insns: Sequence[Insn], loop: bool) -> list[Edge]:
    """Return edges between instructions; `loop` adds those from one iteration to the next."""
    edges: list[Edge] = []
    writers: dict[str, list[tuple[int, int]]] = {}
    for index, insn in enumerate(insns):
        for part, clock in insn.writes(machine):
            writers.setdefault(part, []).append((index, clock))
    single = {parts(insn.address, "r")[0] for insn in insns if insn.address}
    single |= {part for insn in insns if insn.in_place for part in insn.results}
    single |= {insn.operation.fixed for insn in insns}
    for index, insn in enumerate(insns):
        for part, clock in insn.reads(machine):
            written = writers.get(part)
            if written is None:  # a constant
                continue
            before = bisect_left(written, (index,))
            if before:
                of, ready = written[before - 1]
                edges.append(Edge(of, index, latency(ready, clock), 0))
            elif loop:
                of, ready = written[-1]
                edges.append(Edge(of, index, latency(ready, clock), 1))
            if part in single and loop:
                edges += [Edge(index, of, 0, 1) for of, _ in written[:before]]
            if part in single or not loop:  # a name that is written again is one register
                edges += [Edge(index, of, 0, 0) for of, _ in written[before:] if of > index]
    return edges


@lru_cache(maxsize=64)  # an epilogue and prologue are scheduled with several delays
def graph(machine: HvxMachine, insns: tuple[Insn, ...], loop: bool) -> DependenceGraph:
    """Return nodes and edges of a stream, as straight code or as the body of a loop."""
    edges = instruction_edges(machine, insns, loop)
    group = list(range(len(insns)))

    def tie(a: int, b: int) -> None:
        old, new = group[b], group[a]
        for k, g in enumerate(group):
            if g == old:
                group[k] = new

    for index, insn in enumerate(insns):
        text = insn.operation.text
        if ".tmp" in text or ".cur" in text:
            readers = [k for k in range(index + 1, len(insns)) if insn.dst in insns[k].src]
            if not readers:
                raise HexsimError(
                    f"stream: nothing reads {insn.dst} of {insn.op}; use a plain load"
                )
            for reader in readers if ".tmp" in text else readers[:1]:
                tie(index, reader)
        if ".new" in text:
            tie(max(k for k in range(index) if insns[k].dst == insn.src[1]), index)
    members: dict[int, list[int]] = {}
    for index, g in enumerate(group):
        members.setdefault(g, []).append(index)
    nodes = tuple(tuple(m) for m in members.values())
    node_of = {index: n for n, node in enumerate(nodes) for index in node}
    strongest: dict[tuple[int, int, int], int] = {}
    for e in edges:
        key = (node_of[e.of], node_of[e.to], e.distance)
        if key[0] != key[1] or e.distance:
            strongest[key] = max(strongest.get(key, 0), e.packets)
    classes = tuple(_node_classes(machine, [insns[i] for i in node]) for node in nodes)
    return DependenceGraph(
        tuple(insns),
        nodes,
        tuple(Edge(of, to, packets, far) for (of, to, far), packets in strongest.items()),
        classes,
    )


def _node_classes(machine: HvxMachine, insns: list[Insn]) -> tuple[tuple[str, ...], ...]:
    classes = [i.occupancy(machine) for i in insns]
    return tuple(tuple(c[k] for c in classes if k < len(c)) for k in range(max(map(len, classes))))
