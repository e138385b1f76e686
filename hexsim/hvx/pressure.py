"""Register pressure while straight code is being scheduled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hexsim.hvx.dependences import Graph
from hexsim.hvx.packets import KIND_SIZE, Insn, split
from hexsim.hvx.registers import FILES, STACK, Edges, register_file


def early_registers(insns: Sequence[Insn], edges: Edges) -> dict[str, int]:
    """Registers of each file that are read before they are written: taken from the start."""
    made: set[str] = set()
    early: dict[str, dict[str, int]] = {file: {} for file in FILES}
    for insn in insns:
        operands = list(zip(insn.operation.sources, insn.src, strict=True))
        if insn.operation.accumulates:
            operands.append(("d", insn.dst))
        for letter, name in operands:
            base, part = split(name)
            kind = insn.operation.kinds[letter]
            if base not in made | edges.dying | {STACK}:
                sizes = early[register_file(kind)]
                sizes[base] = max(sizes.get(base, 0), KIND_SIZE[kind] + (part or 0))
        made.add(split(insn.dst)[0])
    return {file: sum(sizes.values()) for file, sizes in early.items()}


class Live:
    """Registers that the values made so far occupy, per file."""

    def __init__(self, g: Graph, edges: Edges):
        self.lasting = edges.lasting
        self.made: set[str] = set()
        self.readers: dict[str, set[int]] = {}
        self.sizes: dict[str, tuple[str, int]] = {}
        for n, node in enumerate(g.nodes):
            for insn in (g.insns[i] for i in node):
                if insn.dst:
                    self._size(insn.dst, insn.operation.kinds["d"])
                for letter, value in zip(insn.operation.sources, insn.src, strict=True):
                    base = split(value)[0]
                    self.readers.setdefault(base, set()).add(n)
                    if base in edges.dying:
                        self._size(value, insn.operation.kinds[letter])
                        self.made.add(base)
        self.used = dict.fromkeys(FILES, 0)
        for base in self.made:
            self.used[self.sizes[base][0]] += self.sizes[base][1]

    def _size(self, value: str, kind: str) -> None:
        base, part = split(value)
        size = max(KIND_SIZE[kind] + (part or 0), self.sizes.get(base, ("", 0))[1])
        self.sizes[base] = (register_file(kind), size)

    def growth(self, g: Graph, n: int) -> dict[str, int]:
        """Registers a node would take, less those it frees as their last reader."""
        insns = [g.insns[i] for i in g.nodes[n]]
        new = {split(i.dst)[0] for i in insns if i.dst} - self.made
        inside = {b for b in new - self.lasting if self.readers.get(b, set()) <= {n}}
        read = {split(v)[0] for i in insns for v in i.src} & self.made
        last = {b for b in read - self.lasting if self.readers[b] == {n}}
        grown = dict.fromkeys(FILES, 0)
        for base in new - inside:
            grown[self.sizes[base][0]] += self.sizes[base][1]
        for base in last:
            grown[self.sizes[base][0]] -= self.sizes[base][1]
        return grown

    def fits(self, g: Graph, n: int, limits: Mapping[str, int]) -> bool:
        """Whether a node keeps to the limits, or at least takes nothing."""
        grown = self.growth(g, n)
        return all(grown[f] <= 0 or self.used[f] + grown[f] <= limits[f] for f in FILES)

    def place(self, g: Graph, n: int) -> None:
        """Account for a node that has been issued."""
        for file, grown in self.growth(g, n).items():
            self.used[file] += grown
        insns = [g.insns[i] for i in g.nodes[n]]
        self.made |= {split(i.dst)[0] for i in insns if i.dst}
        for insn in insns:
            for value in insn.src:
                self.readers[split(value)[0]].discard(n)
