"""Software pipelining: a loop in its steady state, and the epilogue and prologue around it.

If iterations of a loop overlap, some of them end after the steady state (the epilogue) and some
begin before it (the prologue). Four parts are scheduled together as one block of straight code: the
epilogue, the code after the loop (requantise, store), the code before the next run of the loop
(addresses, accumulators) and its prologue. `pipelined` adds the steady state.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache

from hexsim.errors import HexsimError
from hexsim.hvx.dependences import Edge, instruction_edges
from hexsim.hvx.isa import HvxMachine, latency
from hexsim.hvx.modulo import Loop, modulo
from hexsim.hvx.packets import Insn, split
from hexsim.hvx.registers import Edges
from hexsim.hvx.scheduling import Straight, fitted, straight
from hexsim.records import dataclass

LATEST_PROLOGUE = 128  # slots tried between epilogue and prologue
ITERATION = "@"  # separates the name of a value from the number of its iteration


@dataclass(frozen=True)
class PipelinedLoop:
    """One run of a loop with `iterations`, and the block that leads to its next run.

    epilogue_prologue: the epilogue of this run and the prologue of the next. steady:
    passes of the scheduled body. slots: all packet slots; stalls: empty ones.
    """

    loop: Loop
    iterations: int
    epilogue_prologue: Straight
    slots: int

    @property
    def steady(self) -> int:
        """Passes of the loop body in the steady state."""
        return max(0, self.iterations - self.loop.stages + 1)

    @property
    def packets(self) -> int:
        """Packets issued."""
        return self.steady * len(self.loop.packets) + len(self.epilogue_prologue.packets)

    @property
    def stalls(self) -> int:
        """Slots without an instruction."""
        return self.slots - self.packets


@lru_cache(maxsize=4096)
def pipelined(
    machine: HvxMachine,
    body: tuple[Insn, ...],
    iterations: int,
    after: tuple[Insn, ...] = (),
    before: tuple[Insn, ...] = (),
) -> PipelinedLoop:
    """Schedule a loop of `iterations`, the code `after` it and the code `before` its next run."""
    loop = modulo(machine, body)
    if iterations < loop.stages:
        return _short(loop, iterations, after, before)
    code, length = _epilogue_prologue(loop, after, before)
    steady = iterations - loop.stages + 1
    return PipelinedLoop(loop, iterations, code, steady * loop.interval + length)


@lru_cache(maxsize=1024)
def _epilogue_prologue(
    loop: Loop, after: tuple[Insn, ...], before: tuple[Insn, ...]
) -> tuple[Straight, int]:
    """Return the code from the last steady pass to the first of the next run, and its slots."""
    machine, body = loop.machine, loop.insns
    names = _RegisterNames(body)
    overlapping = range(loop.stages - 1)
    last = sorted(
        (loop.times[k] - (r + 1) * loop.interval, k, r)
        for r in overlapping
        for k in range(len(body))
        if loop.times[k] >= (r + 1) * loop.interval
    )
    begin = (loop.stages - 1) * loop.interval  # slot of the first steady pass
    first = sorted(
        (loop.times[k] + j * loop.interval, k, j)
        for j in overlapping
        for k in range(len(body))
        if loop.times[k] + j * loop.interval < begin
    )
    before_each, behind_each = _by_instruction(instruction_edges(machine, body, loop=True))
    block = [names.instance(k, -r) for _, k, r in last]
    block += [*after, *before]
    block += [names.instance(k, j + 1) for _, k, j in first]
    ready = {}
    for place, (_, k, r) in enumerate(last):
        starts = [
            loop.times[e.of] - (r + 1 + e.distance) * loop.interval + e.packets
            for e in before_each[k]
            if loop.times[e.of] < (r + 1 + e.distance) * loop.interval
        ]
        ready[place] = max([0, *starts])
    lasting = {
        names.instance(k, j + 1).dst
        for _, k, j in first
        for e in behind_each[k]
        if loop.times[e.to] + (j + e.distance) * loop.interval >= begin
    }
    at_edges = _at_edges(block, lasting)
    begun = {len(block) - len(first) + n: at for n, (at, _, _) in enumerate(first)}

    def begun_later(slots: int) -> Straight | None:
        moved = {n: at + slots for n, at in begun.items()}
        return fitted(machine, block, {**ready, **moved} if slots else ready, at_edges)

    code = _earliest(begun_later)
    if code is None:
        raise HexsimError(
            f"loop of {len(body)} instructions: the code around it needs more registers than "
            "there are; emit a smaller body"
        )
    length = code.length
    for place, (_, k, j) in enumerate(first, start=len(block) - len(first)):
        for e in behind_each[k]:
            reader = loop.times[e.to] + (j + e.distance) * loop.interval
            if reader >= begin:
                length = max(length, code.times[place] + e.packets - (reader - begin))
    return code, max(length, _entry(code, block, loop, begin))


def _by_instruction(edges: Sequence[Edge]) -> tuple[dict[int, list[Edge]], dict[int, list[Edge]]]:
    to: dict[int, list[Edge]] = defaultdict(list)
    of: dict[int, list[Edge]] = defaultdict(list)
    for e in edges:
        to[e.to].append(e)
        of[e.of].append(e)
    return to, of


def _earliest(begun_later: Callable[[int], Straight | None]) -> Straight | None:
    """Return the block whose prologue begins as early as the registers of the epilogue allow."""
    code, failed, later = begun_later(0), 0, 1
    while code is None and later <= LATEST_PROLOGUE:
        code = begun_later(later)
        if code is None:
            failed, later = later, 2 * later
    while code is not None and later - failed > 1:
        middle = (failed + later) // 2
        sooner = begun_later(middle)
        if sooner is None:
            failed = middle
        else:
            code, later = sooner, middle
    return code


def _at_edges(block: Sequence[Insn], lasting: set[str]) -> Edges:
    """Return the values of iterations that end in the block, and those needed after it."""
    written: set[str] = set()
    dying: set[str] = set()
    for insn in block:
        read = {split(v)[0] for v in (*insn.src, insn.operation.accumulates * insn.dst)}
        dying |= read - written
        written.add(split(insn.dst)[0])
    return Edges(
        frozenset(v for v in dying if ITERATION in v),
        frozenset(split(v)[0] for v in lasting if ITERATION in v),
    )


def _entry(code: Straight, block: Sequence[Insn], loop: Loop, begin: int) -> int:
    """Return the slots until the first steady pass may read the values that the block writes."""
    written_parts = {
        part: (time, clock)
        for insn, time in zip(block, code.times, strict=True)
        for part, clock in insn.writes(loop.machine)
    }
    needed = 0
    for insn, time in zip(loop.insns, loop.times, strict=True):
        for part, clock in insn.reads(loop.machine):
            if part in written_parts and time >= begin:
                at, written = written_parts[part]
                needed = max(needed, at + latency(written, clock) - (time - begin))
    return needed


def _short(
    loop: Loop, iterations: int, after: tuple[Insn, ...], before: tuple[Insn, ...]
) -> PipelinedLoop:
    """Schedule a loop with too few iterations for its overlap as straight code."""
    names = _RegisterNames(loop.insns)
    instances = [names.instance(k, j) for j in range(iterations) for k in range(len(loop.insns))]
    code = straight(loop.machine, [*before, *instances, *after])
    return PipelinedLoop(loop, iterations, code, code.length)


class _RegisterNames:
    """Names values by iteration, except constants, accumulators and addresses."""

    def __init__(self, body: Sequence[Insn]):
        self.body = body
        self.defined: dict[str, int] = {}
        for k, insn in enumerate(body):
            if insn.dst and not insn.operation.accumulates and not insn.in_place:
                self.defined.setdefault(split(insn.dst)[0], k)

    def instance(self, index: int, iteration: int) -> Insn:
        """Return instruction `index` with the names of one iteration."""

        def named(value: str) -> str:
            base, _ = split(value)
            if base not in self.defined:
                return value
            before = index <= self.defined[base] and value != insn.dst
            return f"{base}{ITERATION}{iteration - before}" + value.removeprefix(base)

        insn = self.body[index]
        return Insn(insn.op, named(insn.dst), tuple(map(named, insn.src)), insn.imm)
