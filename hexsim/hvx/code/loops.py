"""The loops of a function: hardware loops from their setup, others from jumps back.

A hardware loop runs from the address in its `loop0` or `loop1` to the packet that ends it. A jump
to an earlier address of the function closes a loop from there, if the code there leads to the jump
again: a branch that is placed behind the rest also jumps back. A loop that lies within another is
its inner loop.

Left out: jumps through registers, and loops whose code is not in one piece.
"""

import re
from bisect import bisect_right
from itertools import pairwise
from typing import Literal

from hexsim.hvx.code.disassembly import CodePacket, Function
from hexsim.records import dataclass, field

LoopKind = Literal["hardware", "jump"]


_LEAVES = re.compile("jump|dealloc_return")
"""The beginning of an instruction behind whose packet the code does not go on."""


@dataclass(frozen=True)
class CodeLoop:
    """A loop: `packets` are those of one iteration in order, without inner loops.

    `name` is the label at its beginning, or the function with the distance from its beginning; if
    an inner loop begins there too, its end follows.
    `trips` is the number of iterations if the code states it. `skips` counts conditional jumps
    inside; the packets are those of the path that takes none.
    """

    name: str
    function: str
    kind: LoopKind
    start: int
    end: int
    packets: tuple[CodePacket, ...]
    trips: int | None = None
    skips: int = 0
    calls: int = 0
    inner: tuple["CodeLoop", ...] = field(default=(), repr=False)


def loops_of(function: Function) -> tuple[CodeLoop, ...]:
    """Return the outermost loops of a function, in the order of their addresses."""
    addresses = [packet.address for packet in function.packets]
    spans: dict[tuple[int, int], tuple[LoopKind, int | None]] = {}
    closed: list[tuple[int, int]] = []
    setups: list[tuple[int, int, int | None]] = []
    for packet in function.packets:
        for instruction in packet.instructions:
            target, match = instruction.target, re.search(r"loop([01])\(", instruction.text)
            if target is None:
                continue
            if match:
                count = re.search(r",#(-?\w+)\)$", instruction.text)
                setups.append((int(match[1]), target, int(count[1], 0) if count else None))
            elif target <= packet.address and target in addresses:
                closed.append((target, packet.address))
        for level in packet.ends:
            begun = [setup for setup in setups if setup[0] == level and setup[1] <= packet.address]
            if begun:
                _, start, trips = max(begun, key=lambda setup: setup[1])
                spans[start, packet.address] = ("hardware", trips)
    loops = [span for span in closed if _leads(function, *span)]
    spans = dict.fromkeys(loops, ("jump", None)) | spans
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    return _nested(function, addresses, ordered, spans)


def _leads(function: Function, start: int, end: int) -> bool:
    """Whether the packet at `start` is followed, over any branch, by that at `end`."""
    unseen = {packet.address: packet for packet in function.packets}
    after, waiting = dict(pairwise(unseen)), [start]
    while waiting and end in unseen:
        packet = unseen.pop(waiting.pop(), None)
        if packet is not None:
            waiting += [each.target for each in packet.instructions if each.target is not None]
            if not any(_LEAVES.match(each.text) for each in packet.instructions):
                waiting.append(after.get(packet.address, start))
    return end not in unseen


def _nested(
    function: Function,
    addresses: list[int],
    ordered: list[tuple[int, int]],
    spans: dict[tuple[int, int], tuple[LoopKind, int | None]],
) -> tuple[CodeLoop, ...]:
    loops = []
    while ordered:
        (start, end), *others = ordered
        within = [span for span in others if start <= span[0] and span[1] <= end]
        ordered = [span for span in others if span[0] > end]  # one that overlaps is left out
        inner = _nested(function, addresses, within, spans)
        kind, trips = spans[start, end]
        first, last = bisect_right(addresses, start) - 1, bisect_right(addresses, end)
        packets = tuple(
            packet
            for packet in function.packets[first:last]
            if not any(loop.start <= packet.address <= loop.end for loop in inner)
        )
        name = function.labels.get(start) or _place(function, start)
        if inner and inner[0].start == start:
            name += f"-{end - function.packets[0].address:#x}"
        texts = [i.text for packet in packets for i in packet.instructions]
        jumps = sum("jump" in text and "if (" in text for text in texts)
        loops.append(
            CodeLoop(
                name=name,
                function=function.name,
                kind=kind,
                start=start,
                end=end,
                packets=packets,
                trips=trips,
                skips=jumps - (kind == "jump" and jumps > 0),
                calls=sum(bool(re.search(r"\bcallr? ", text)) for text in texts),
                inner=inner,
            )
        )
    return tuple(loops)


def _place(function: Function, address: int) -> str:
    offset = address - function.packets[0].address
    return f"{function.name}+{offset:#x}" if offset else function.name


def flattened(loops: tuple[CodeLoop, ...], depth: int = 0) -> list[tuple[int, CodeLoop]]:
    """Return all loops with their depths, each before its inner ones."""
    return [each for loop in loops for each in ((depth, loop), *flattened(loop.inner, depth + 1))]
