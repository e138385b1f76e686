"""Compiled code on a chip: the clocks of its loops, what limits them, and several threads.

The packets and waits are those of `hexsim.hvx.code`; the threads share a core as in
`hexsim.studies.kernel_threads`. Data are taken to stream through the loop: from VTCM, whose ports
each context has for itself, through the L2 port, which all share, or from DDR, without a prefetch
and with a stream for each thread.

Left out: what the cache of scalar data misses, conflicts of banks of VTCM (not published), DMA and
the matrix engine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from msgspec.structs import replace as replaced

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.hvx.code.bounds import UNROLLS, LoopBounds
from hexsim.hvx.code.disassembly import Code, CodePacket, Function, read_code, written_packet
from hexsim.hvx.code.loops import CodeLoop, flattened, loops_of
from hexsim.hvx.code.timing import slots, steady, straight
from hexsim.hvx.code.traffic import is_scalar_fed, moved_bytes, remarks, uses_vectors
from hexsim.hvx.listing import loop_asm, pipes
from hexsim.hvx.listing import slots as slots_in_use
from hexsim.hvx.modulo import Loop
from hexsim.hvx.streams import Kernel, Segment
from hexsim.results import kernel as results
from hexsim.studies.kernel_run import ProgramRun
from hexsim.studies.kernel_threads import MOST_THREADS, Core
from hexsim.timing.work import WorkItem

_AS_FAST = 1.001
"""A memory keeps up if it makes a loop no slower than this factor."""


def code_kernel(
    path: str | Path,
    platform: Platform,
    function: str | None = None,
    trips: Mapping[str, int] | None = None,
    against: str | Path | None = None,
    run: Sequence[str] | None = None,
) -> results.Kernel:
    """Return the loops of an ELF file or of assembly on a chip.

    `function` selects one, `trips` gives iterations by the names of loops, `against` is another
    version of the file. With `run`, its arguments, the file is a program that is executed.
    Raises HexsimError if a file cannot be read, is for another version of the
    architecture, or has no such function or loop.
    """
    core = Core.of(platform)
    code = read_code(path, core.version, function)
    _check_version(code, core, platform.chip.name)
    for name, count in (trips or {}).items():
        if type(count) is not int or count < 0:
            raise HexsimError(f"{spelled('trips')} {name}={count}: give a whole number from 0 on")
    if run is not None and trips:
        raise HexsimError(f"{spelled('trips')} is for code that is not run; leave it out")
    ran = None if run is None else ProgramRun.of(code, Path(path), run, core, function)
    functions = list(_functions(code, core, dict(trips or {}), ran))
    loops = tuple(loop for _, of_function in functions for loop in of_function)
    _known_loops(trips or {}, loops, code)
    answer = results.Kernel(
        kernel=code.name,
        chip=platform.chip.name,
        version=core.version,
        code_version=code.version,
        stack=platform.stack.name,
        clock_hz=core.rule.clock_hz,
        functions=tuple(described for described, _ in functions),
        loops=loops,
        run=ran.described() if ran else None,
        left_out=code.left_out,
    )
    if against is None:
        return answer
    other = code_kernel(against, platform, function)
    return replaced(answer, against=other.kernel, changes=tuple(_changes(answer, other)))


def _check_version(code: Code, core: Core, chip: str) -> None:
    if code.version > core.version:
        raise HexsimError(
            f"{code.name} is code for V{code.version}, and {chip} has V{core.version}; compile it "
            f"with -mv{core.version}, or give a later chip with {spelled('chip')}"
        )


def _known_loops(trips: Mapping[str, int], loops: Sequence[results.KernelLoop], code: Code) -> None:
    names = [loop.name for loop in loops]
    for name in trips:
        if name not in names:
            if not names:
                raise HexsimError(f"{spelled('trips')} {name}: {code.name} has no loop")
            raise unknown(f"loop of {code.name}", name, names)


def _functions(
    code: Code, core: Core, trips: Mapping[str, int], ran: ProgramRun | None
) -> Iterator[tuple[results.CodeFunction, tuple[results.KernelLoop, ...]]]:
    for function in code.functions:
        outermost = loops_of(function)
        loops = tuple(
            described_loop(
                loop,
                core,
                depth,
                ran.trips(loop) if ran else _with_trips(loop, trips, _steady_slots),
                ran.execution.runs if ran else None,
            )
            for depth, loop in flattened(outermost)
        )
        described = _function(function, outermost, core, trips)
        if ran:
            addresses = [packet.address for packet in function.packets]
            described = replaced(
                described,
                total_clocks=ran.slots(addresses) * core.rule.slot_clocks,
                executed=sum(ran.execution.runs[at] for at in addresses),
            )
        yield described, loops


def _with_trips(
    loop: CodeLoop, trips: Mapping[str, int], of: Callable[[Sequence[CodePacket]], int]
) -> tuple[int | None, int | None]:
    """Return the trips of a loop, and its slots or packets (`of`) if all trips are known."""
    own = trips.get(loop.name, loop.trips)
    inner = [_with_trips(each, trips, of)[1] for each in loop.inner]
    if own is None or None in inner:
        return own, None
    return own, own * (of(loop.packets) + sum(each or 0 for each in inner))


def _steady_slots(packets: Sequence[CodePacket]) -> int:
    return slots(steady(packets))


def _function(
    function: Function, loops: Sequence[CodeLoop], core: Core, trips: Mapping[str, int]
) -> results.CodeFunction:
    outside = [
        packet
        for packet in function.packets
        if not any(loop.start <= packet.address <= loop.end for loop in loops)
    ]
    own = slots(straight(outside)) * core.rule.slot_clocks
    in_loops, executed = (
        [_with_trips(loop, trips, of)[1] for loop in loops] for of in (_steady_slots, len)
    )
    known = None not in in_loops
    slots_in_loops = sum(total or 0 for total in in_loops)
    return results.CodeFunction(
        name=function.name,
        packets=len(function.packets),
        straight_clocks=own,
        total_clocks=own + slots_in_loops * core.rule.slot_clocks if known else None,
        executed=len(outside) + sum(total or 0 for total in executed) if known else None,
    )


def described_loop(
    loop: CodeLoop,
    core: Core,
    depth: int,
    trips: tuple[int | None, int | None],
    runs: Mapping[int, int] | None = None,
) -> results.KernelLoop:
    """Return a loop of a document; `trips` are its iterations and the slots of them all.

    `runs` are the executions of packets by their addresses.
    """
    issues = steady(loop.packets)
    bounds = LoopBounds(core.machine, loop.packets, issues)
    per_slot = core.rule.slot_clocks
    read, written = moved_bytes(loop.packets)
    machine = core.machine
    return results.KernelLoop(
        name=loop.name,
        function=loop.function,
        depth=depth,
        kind=loop.kind,
        packets_issued=len(loop.packets),
        stalls=bounds.slots - len(loop.packets),
        clocks=bounds.slots * per_slot,
        trips=trips[0],
        total_clocks=None if trips[1] is None else trips[1] * per_slot,
        resource_bound=bounds.resource_bound,
        recurrence_bound=bounds.recurrence,
        limit=bounds.limit,
        load_bytes=read,
        store_bytes=written,
        needs=tuple(
            results.Need(resource=name, packets=float(needed))
            for name, needed in bounds.needs.items()
        ),
        gains=tuple(_gains(bounds)),
        threads=tuple(_threads(loop, core, bounds, read + written)),
        remarks=tuple(remarks(loop)),
        packets=tuple(
            results.LoopPacket(
                slots=slots_in_use([i.description.of_class for i in packet.instructions]),
                pipes=pipes(machine, [i.description.of_class for i in packet.instructions]),
                asm=packet.text,
                address=packet.address if loop.end else None,  # ours are in no file
                clock=issue.slot * per_slot,
                stall=issue.stall,
                cause=issue.cause,
                executed=None if runs is None else runs.get(packet.address, 0),
            )
            for packet, issue in zip(loop.packets, issues, strict=True)
        ),
    )


def loop_name(kernel: Kernel, segment: Segment) -> str:
    """Return the name of a loop of our own kernels."""
    return f"{kernel.name}: {segment.name}"


def stream_loops(kernels: Sequence[Kernel], platform: Platform) -> Iterator[results.KernelLoop]:
    """Yield the loops of our own kernels, from their listings, as if they were read from a file."""
    core = Core.of(platform)
    for kernel in kernels:
        for segment in kernel.tile:
            if isinstance(segment.code, Loop) and segment.times:
                packets = tuple(
                    written_packet(text, core.version) for text in loop_asm(segment.code)
                )
                loop = CodeLoop(loop_name(kernel, segment), kernel.name, "hardware", 0, 0, packets)
                yield described_loop(loop, core, 0, (None, None))


def _gains(bounds: LoopBounds) -> Iterator[results.Gain]:
    changes: dict[str, Fraction | int | None] = {"overlap iterations": bounds.bound}
    for copies in UNROLLS:
        changes[f"unroll by {copies}" if copies > 1 else "reorder"] = bounds.unrolled(copies)
    for change, fewest in changes.items():
        if fewest is not None:
            at_most = min(float(fewest), float(bounds.slots))
            yield results.Gain(change=change, slots=at_most, faster=bounds.slots / at_most)


def _threads(
    loop: CodeLoop, core: Core, bounds: LoopBounds, moved: int
) -> Iterator[results.ThreadRate]:
    item = WorkItem(
        len(loop.packets),
        bounds.slots - len(loop.packets),
        scalar_fed=len(loop.packets) if is_scalar_fed(loop.packets) else 0,
        vector=uses_vectors(loop.packets),
    )
    gathers = bounds.gather_slots * core.rule.slot_clocks
    for threads in range(1, MOST_THREADS + 1):
        clocks = max(core.clocks(item, threads), threads * gathers)
        in_l2 = (
            max(clocks, core.clocks(replace(item, l2_bytes=moved), threads)) if moved else clocks
        )
        running = core.running(item, threads)
        in_ddr = max(in_l2, core.ddr_clocks(item, threads, moved))
        near = clocks * _AS_FAST
        yield results.ThreadRate(
            threads=threads,
            contexts=running if item.vector else 0,
            issue_share=threads * item.packets / (clocks * core.rule.clusters),
            clocks=clocks,
            l2_clocks=in_l2,
            ddr_clocks=in_ddr,
            memory="DDR" if in_ddr <= near else "L2" if in_l2 <= near else "VTCM",
            bytes_per_clock=threads * moved / clocks,
        )


def _changes(here: results.Kernel, there: results.Kernel) -> Iterator[results.LoopChange]:
    """Yield the loops of both, matched by function and place in it."""
    others: dict[str, list[results.KernelLoop]] = {}
    for loop in there.loops:
        others.setdefault(loop.function, []).append(loop)
    for loop in here.loops:
        rest = others.get(loop.function, [])
        other = rest.pop(0) if rest else None
        yield results.LoopChange(
            name=loop.name,
            other=None if other is None else other.name,
            clocks=loop.clocks,
            other_clocks=None if other is None else other.clocks,
            bytes_per_clock=_per_clock(loop),
            other_bytes_per_clock=None if other is None else _per_clock(other),
            faster=None if other is None else _faster(loop, other),
        )


def _faster(loop: results.KernelLoop, other: results.KernelLoop) -> float:
    here, there = _per_clock(loop), _per_clock(other)
    return here / there if here and there else other.clocks / loop.clocks


def _per_clock(loop: results.KernelLoop) -> float:
    return (loop.load_bytes + loop.store_bytes) / loop.clocks
