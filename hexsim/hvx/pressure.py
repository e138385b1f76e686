"""Register pressure while straight code is being scheduled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hexsim.hvx.dependences import DependenceGraph
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
    """Registers that the values made so far occupy, per file, and the limits on them."""

    def __init__(self, g: DependenceGraph, edges: Edges, limits: Mapping[str, int]):
        self.limits = limits
        self.lasting = edges.lasting
        self.made: set[str] = set()
        self.readers: dict[str, set[int]] = {}
        self.sizes: dict[str, tuple[str, int]] = {}
        self.writes: list[set[str]] = []
        self.reads: list[set[str]] = []
        for n, node in enumerate(g.nodes):
            self.writes.append({split(g.insns[i].dst)[0] for i in node if g.insns[i].dst})
            self.reads.append({split(v)[0] for i in node for v in g.insns[i].src})
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

    def growth(self, n: int) -> dict[str, int]:
        """Registers a node would take, less those it frees as their last reader."""
        grown: dict[str, int] = {}
        for base in self.writes[n] - self.made:
            if base in self.lasting or self.readers.get(base, set()) - {n}:
                file, size = self.sizes[base]
                grown[file] = grown.get(file, 0) + size
        for base in (self.reads[n] & self.made) - self.lasting:
            if self.readers[base] == {n}:
                file, size = self.sizes[base]
                grown[file] = grown.get(file, 0) - size
        return grown

    def fits(self, n: int) -> bool:
        """Whether a node keeps to the limits, or at least takes nothing."""
        return all(
            grown <= 0 or self.used[file] + grown <= self.limits[file]
            for file, grown in self.growth(n).items()
        )

    def place(self, n: int) -> None:
        """Account for a node that has been issued."""
        for file, grown in self.growth(n).items():
            self.used[file] += grown
        self.made |= self.writes[n]
        for base in self.reads[n]:
            self.readers[base].discard(n)
