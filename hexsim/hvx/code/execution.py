"""An executed program: how often each packet ran, what it waited for, and where its data were.

Packets are issued in the order in which they were executed, on a thread of their own for each
thread of the program. L2 holds the lines that were used last (assumed: no sets), of 128 bytes; it
is shared by programs side by side, each of which has its part. Stored lines go to DDR when they are
displaced, lines that are fetched (l2fetch) come at once.

Left out: the cache of scalar data, and what the operating system reads and writes for the program.
Threads of one program are counted together, as one.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hexsim.hvx.code.disassembly import CodePacket
from hexsim.hvx.code.emulation import Registers
from hexsim.hvx.code.memory import Access, accesses
from hexsim.hvx.code.timing import Issuer

LINE_BYTES = 128
_ADDRESSES = 0xFFFF_FFFF
_FETCH = re.compile(r"l2fetch\((r\d+),(r\d+)(?::(\d+))?\)")
_FRAME = re.compile("dealloc|alloc")
_FRAMES = {"alloc": Access(False, "r29+#-0x8", 8), "dealloc": Access(True, "r30+#0x0", 8)}
"""What `allocframe` stores below the stack, and `deallocframe` and `dealloc_return` load again."""

Touch = Callable[[Registers], Sequence[int]]
"""The lines that an access touches."""


@dataclass
class Cache:
    """Lines of L2, the one that was used last at the end; counts bytes from and to DDR."""

    lines: int
    hits: int = 0
    misses: int = 0
    written_back: int = 0
    _kept: OrderedDict[int, bool] = field(default_factory=OrderedDict)

    def use(self, line: int, *, stored: bool, whole: bool) -> None:
        """Load or store to a line; a store to the whole line needs nothing of DDR."""
        kept = self._kept
        if line in kept:
            self.hits += 1
            kept.move_to_end(line)
            if stored:
                kept[line] = True
            return
        self.misses += not (stored and whole)
        self.hits += stored and whole
        kept[line] = stored
        if len(kept) > self.lines:
            self.written_back += kept.popitem(last=False)[1]


@dataclass
class Execution:
    """What a program has executed; `caches` are L2 with 1, 2, ... programs side by side.

    runs: executions by address. stalls: empty slots before it, in all of them. l2_bytes are those
    of vector accesses, vtcm_bytes of all, of which vtcm_scalars are scalar. repeated: accesses to
    the line of the one before, which are hits in every cache.
    """

    packets: dict[int, CodePacket]
    caches: Sequence[Cache]
    vtcm: Sequence[range] = ()
    runs: Counter[int] = field(default_factory=Counter)
    stalls: Counter[int] = field(default_factory=Counter)
    outside: int = 0
    l2_bytes: int = 0
    vtcm_bytes: int = 0
    vtcm_scalars: int = 0
    unresolved: int = 0
    repeated: int = 0
    threads: int = 0
    _last: tuple[int, bool] = (-1, False)

    def follow(self, executed: Iterable[tuple[bytes, int, Registers]]) -> None:
        """Follow a program to its end."""
        issuer = Issuer()
        states: dict[bytes, int] = {}
        steps: Counter[tuple[int, int]] = Counter()
        touching = {address: [*_touches(packet)] for address, packet in self.packets.items()}
        for thread, address, registers in executed:
            packet = self.packets.get(address)
            if packet is None:
                self.outside += 1
                continue
            state = states.get(thread, 0)
            steps[state, address] += 1
            states[thread] = issuer.issue(state, packet)[0]
            for access, touch in touching[address]:
                self._access(access, touch, registers)
        self.threads = len(states)
        for (state, address), count in steps.items():
            self.runs[address] += count
            self.stalls[address] += count * issuer.issue(state, self.packets[address])[1]

    def _access(self, access: Access, touch: Touch | None, registers: Registers) -> None:
        if touch is None:
            self.unresolved += 1
            return
        condition = access.predicate.lstrip("!")
        if condition:
            is_true = registers["p3_0"] >> (8 * int(condition[1:])) & 1
            if bool(is_true) == access.predicate.startswith("!"):
                return
        lines = touch(registers)
        if self.vtcm and lines and any(lines[0] * LINE_BYTES in part for part in self.vtcm):
            self.vtcm_bytes += access.size
            self.vtcm_scalars += not access.is_vector
            return
        self.l2_bytes += access.size if access.is_vector else 0
        stored = not access.is_load
        for line in lines:
            if self._last == (line, stored):
                self.repeated += 1
                continue
            self._last = (line, stored)
            whole = stored and access.size == LINE_BYTES and len(lines) == 1
            for cache in self.caches:
                cache.use(line, stored=stored, whole=whole)


def _touches(packet: CodePacket) -> Iterable[tuple[Access, Touch | None]]:
    for instruction in packet.instructions:
        for access in accesses(instruction.text):
            yield access, _lines_of(access)
        if frame := _FRAME.search(instruction.text):
            access = _FRAMES[frame[0]]
            yield access, _lines_of(access)
        if fetch := _FETCH.match(instruction.text):
            yield Access(True, fetch[0], 0), _fetched(*fetch.groups())


def _lines_of(access: Access) -> Touch | None:
    terms = access.terms
    if terms is None:
        return None
    number, registers = terms
    last = access.size - 1
    aligned = access.is_vector and not access.is_unaligned

    def touch(values: Registers) -> Sequence[int]:
        at = number
        for name, shift in registers:
            at += values[name] << shift
        at &= _ADDRESSES
        first = at // LINE_BYTES
        return range(first, first + 1 if aligned else (at + last) // LINE_BYTES + 1)

    return touch


def _fetched(address: str, box: str, low: str | None) -> Touch:
    """Return the lines of an l2fetch, whose stride, width and height are in one register or two."""

    def touch(values: Registers) -> Sequence[int]:
        if low is None:
            packed = values[box]
            stride, width, height = packed >> 16, packed >> 8 & 0xFF, packed & 0xFF
        else:
            packed = values[f"r{low}"]
            stride, width, height = values[box] & 0xFFFF, packed >> 16, packed & 0xFFFF
        rows = (values[address] + stride * row for row in range(height if width else 0))
        return [
            line
            for first in rows
            for line in range(first // LINE_BYTES, (first + width - 1) // LINE_BYTES + 1)
        ]

    return touch
