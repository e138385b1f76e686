"""Register pressure while straight code is scheduled."""

from collections.abc import Mapping, Sequence

from hexsim.hvx.dependences import DependenceGraph
from hexsim.hvx.packets import KIND_SIZE, Insn, split
from hexsim.hvx.registers import FILES, STACK, Edges, register_file


def early_registers(insns: Sequence[Insn], edges: Edges) -> dict[str, int]:
    """Return the registers of each file that are read before written: occupied from the start."""
    written: set[str] = set()
    early: dict[str, dict[str, int]] = {file: {} for file in FILES}
    for insn in insns:
        operands = list(zip(insn.operation.sources, insn.src, strict=True))
        if insn.operation.accumulates:
            operands.append(("d", insn.dst))
        for letter, name in operands:
            base, part = split(name)
            kind = insn.operation.kinds[letter]
            if base not in written | edges.dying | {STACK}:
                sizes = early[register_file(kind)]
                sizes[base] = max(sizes.get(base, 0), KIND_SIZE[kind] + (part or 0))
        written.add(split(insn.dst)[0])
    return {file: sum(sizes.values()) for file, sizes in early.items()}


class Live:
    """Registers that live values occupy, per file, and their limits."""

    def __init__(self, g: DependenceGraph, edges: Edges, limits: Mapping[str, int]):
        self.limits = limits
        self.lasting = edges.lasting
        self.written: set[str] = set()
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
                        self.written.add(base)
        self.used = dict.fromkeys(FILES, 0)
        for base in self.written:
            self.used[self.sizes[base][0]] += self.sizes[base][1]

    def _size(self, value: str, kind: str) -> None:
        base, part = split(value)
        size = max(KIND_SIZE[kind] + (part or 0), self.sizes.get(base, ("", 0))[1])
        self.sizes[base] = (register_file(kind), size)

    def growth(self, n: int) -> dict[str, int]:
        """Return the registers that a node would occupy, less those that it frees."""
        grown: dict[str, int] = {}
        for base in self.writes[n] - self.written:
            if base in self.lasting or self.readers.get(base, set()) - {n}:
                file, size = self.sizes[base]
                grown[file] = grown.get(file, 0) + size
        for base in (self.reads[n] & self.written) - self.lasting:
            if self.readers[base] == {n}:
                file, size = self.sizes[base]
                grown[file] = grown.get(file, 0) - size
        return grown

    def fits(self, n: int) -> bool:
        """Tell whether a node stays within the limits, or occupies no further registers."""
        return all(
            grown <= 0 or self.used[file] + grown <= self.limits[file]
            for file, grown in self.growth(n).items()
        )

    def place(self, n: int) -> None:
        """Account for a node that has been issued."""
        for file, grown in self.growth(n).items():
            self.used[file] += grown
        self.written |= self.writes[n]
        for base in self.reads[n]:
            self.readers[base].discard(n)
