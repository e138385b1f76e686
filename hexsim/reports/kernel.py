"""One kernel as text: blocking, cost and streams of ours, and loops packet by packet.

The line of a packet shows which slots (0 to 3) and vector pipes (P permute, S shift, M multiply)
it fills; a dot stands for a free one. That of a packet of compiled code begins with its address and
the clock at which it issues; behind a stall stands what it waits for.
"""

from collections.abc import Iterator

from hexsim.graph.ir import Shape
from hexsim.reports.text import number, table, wrapped
from hexsim.results.kernel import (
    Kernel,
    KernelLoop,
    LoopChange,
    LoopPacket,
    Run,
    RunRate,
    Segment,
    Stream,
    ThreadRate,
)
from hexsim.texts.figures import figure, percent, size
from hexsim.texts.text import visible

_NAME_WIDTH = 16


def kernel_table(answer: Kernel) -> str:
    """Return the report of a kernel: of ours with blocking and cost, of code with functions."""
    return "\n".join(_report(answer))


def _report(answer: Kernel) -> Iterator[str]:
    yield from map(wrapped, _title(answer))
    for heading, facts in (("blocking", _blocking(answer)), ("cost", _cost(answer))):
        if lines := [*_lines(facts)]:
            yield from ("", heading, *lines)
    yield ""
    yield from _summary(answer)
    for loop in answer.loops:
        yield ""
        yield from _loop(loop)
    for stream in answer.streams:
        yield ""
        yield from _stream(stream)
    if answer.run:
        yield from _run(answer.run)
    known = [each for each in answer.functions if each.total_clocks is not None]
    if known:
        yield ""
        rows = [
            (f.name, f"{f.packets}", f"{f.executed}", figure(f.total_clocks or 0)) for f in known
        ]
        yield table(("function", "packets", "executed", "clocks"), rows)
    if answer.changes:
        yield ""
        yield wrapped(f"against {answer.against}")
        header = ("loop", "clocks", "there", "B/clk", "there", "times as fast")
        yield table(header, [*map(_change, answer.changes)])


def _title(answer: Kernel) -> Iterator[str]:
    if answer.code_version is None:
        inputs = " + ".join(map(_shape, answer.inputs))
        what = f"{answer.kernel} {inputs} -> {_shape(answer.outputs[0])}"
    else:
        what = f"{answer.kernel}, code for V{answer.code_version},"
    yield (
        f"{what} on {answer.chip} (V{answer.version}), {answer.stack}, "
        f"{answer.clock_hz / 1e9:.3g} GHz; clocks of one thread, memory aside"
    )
    yield from (f"left out: {reason}" for reason in answer.left_out)


def ran(facts: Run) -> Iterator[str]:
    """Yield what a program did, in sentences without their full stops."""
    yield (
        f"run{''.join(f' {word}' for word in facts.arguments)}: "
        f"{number(facts.packets, 'packet')} and {number(facts.stalls, 'stall')}; "
        f"{size(facts.l2_bytes)} through L2, {size(facts.vtcm_bytes)} of VTCM"
    )
    yield from (f"note: {remark}" for remark in facts.remarks)
    if facts.printed:
        yield f"printed: {visible(' '.join(facts.printed.split()))}"


def _run(facts: Run) -> Iterator[str]:
    yield ""
    yield from map(wrapped, ran(facts))
    rows = [
        (*_threads(r), figure(r.clocks), percent(r.l2_hits), size(r.ddr_bytes), r.limit)
        for r in facts.rates
    ]
    yield table(("threads", "contexts", "clocks", "in L2", "of DDR, each", "takes the time"), rows)


def _threads(rate: RunRate | ThreadRate) -> tuple[str, str]:
    return f"{rate.threads}", f"{rate.contexts}" if rate.contexts else "-"


def _summary(answer: Kernel) -> Iterator[str]:
    if not answer.loops:
        yield "no loops"
        return
    rows = [
        (
            "  " * loop.depth + loop.name,
            f"{loop.packets_issued}",
            f"{loop.stalls}",
            figure(loop.clocks),
            f"{max(loop.resource_bound, loop.recurrence_bound)}",
            figure((loop.load_bytes + loop.store_bytes) / loop.clocks),
            loop.threads[0].memory,
            helping(loop) or "-",
        )
        for loop in answer.loops
    ]
    header = ("loop", "packets", "stalls", "clocks", "bound", "B/clk", "data in", "times at most")
    yield table(header, rows)


def helping(loop: KernelLoop) -> str:
    """Return the changes that would help, each with how many times as fast the loop were."""
    gains = (gain for gain in loop.gains if gain.faster > 1)
    return "; ".join(f"{gain.change}: {gain.faster:.3g}" for gain in gains)


def needed(loop: KernelLoop) -> str:
    """Return what an iteration needs at least: packets for each resource, slots for values."""
    needs = ", ".join(f"{figure(need.packets)} for {need.resource}" for need in loop.needs[:5])
    before = number(loop.recurrence_bound, "slot")
    return f"packets: {needs}; values of the iteration before {before}"


def _change(change: LoopChange) -> tuple[str, ...]:
    there, moved = change.other_clocks, change.other_bytes_per_clock
    figures = (change.clocks, there, change.bytes_per_clock, moved, change.faster)
    return (change.name, *("-" if each is None else figure(each) for each in figures))


def _loop(loop: KernelLoop) -> Iterator[str]:
    trips = "" if loop.trips is None else f", {loop.trips} times"
    total = "" if loop.total_clocks is None else f": {figure(loop.total_clocks)} clocks in all"
    yield wrapped(
        f"{loop.name} ({loop.kind} loop{trips}{total}): {number(loop.slots, 'slot')} = "
        f"{figure(loop.clocks)} clocks an iteration"
    )
    yield wrapped(f"  limited by {loop.limit}")
    yield wrapped(f"  needs {needed(loop)}")
    for remark in loop.remarks:
        yield wrapped(f"  note: {remark}")
    rows = [
        (
            *(*_threads(rate), percent(rate.issue_share)),
            *map(figure, (rate.clocks, rate.l2_clocks, rate.ddr_clocks, rate.bytes_per_clock)),
            rate.memory,
        )
        for rate in loop.threads
    ]
    header = ("threads", "contexts", "issue", "clocks", "from L2", "from DDR", "B/clk", "keeps up")
    yield table(header, rows)
    for packet in loop.packets:
        yield from _packet(packet)


def _packet(packet: LoopPacket) -> Iterator[str]:
    if packet.stall:
        yield f"    {'':14}{number(packet.stall, 'slot')} empty: {packet.cause}"
    address = "" if packet.address is None else f"{packet.address:x}"
    executed = "" if packet.executed is None else f"{packet.executed:>9}x "
    units = f"{packet.slots}  {packet.pipes}"
    yield f"    {executed}{address:>6} {packet.clock:>5g}  {units}  {packet.asm}"


def _shape(shape: Shape) -> str:
    return "x".join(str(size) for size in (shape[1:] if len(shape) == 4 else shape))


def _lines(facts: Iterator[tuple[str, str]]) -> Iterator[str]:
    return (f"  {name.ljust(_NAME_WIDTH)}{text}" for name, text in facts)


def _blocking(answer: Kernel) -> Iterator[tuple[str, str]]:
    facts = answer.blocking
    if facts is None:
        return
    yield "padding", f"{percent(facts.padding_share)} of what is computed or moved"
    if facts.form is not None:
        yield "form", facts.form
        yield (
            "weight groups",
            f"{facts.weight_groups} of {facts.slices_per_group} slices of "
            f"{facts.channels_per_slice} channels, {size(facts.slice_bytes or 0)} each",
        )
        in_vtcm = f"VTCM, {size(facts.vtcm_bytes or 0)} at a time"
        yield "weights in", in_vtcm if facts.weights_in_vtcm else "L2"
        yield (
            "rows",
            f"{facts.rows_per_worker} per worker, {facts.rows_per_call} per call: "
            f"{facts.calls_per_worker} calls",
        )
    yield "workers", f"{facts.workers}"
    names = (("node", "nodes"), ("stage", "stages"), ("prefetch", "prefetches"), ("job", "jobs"))
    yield (
        "work",
        ", ".join(
            f"{getattr(facts, plural)} {singular if getattr(facts, plural) == 1 else plural}"
            for singular, plural in names
        ),
    )


def _cost(answer: Kernel) -> Iterator[tuple[str, str]]:
    facts = answer.cost
    if facts is None:
        return
    yield (
        "time",
        f"{figure(facts.us)} us = {facts.cycles} cycles, {figure(facts.dispatch_us)} us "
        "of them dispatch",
    )
    yield "bound", f"{facts.bound}"
    yield "cost model", facts.cost_model
    share = facts.stall_slots / max(1, facts.packets + facts.stall_slots)
    stalls = f"{facts.stall_slots} slots of stalls ({percent(share)})"
    yield "packets", f"{facts.packets}, and {stalls}"
    if facts.macs:
        yield (
            "MACs",
            f"{facts.macs}, {figure(facts.macs_per_slot)} per slot; peak "
            f"{facts.peak_macs_per_packet:.0f}",
        )
        yield "efficiency", f"{percent(facts.efficiency)} of the peak of all contexts"
    moved = (("DDR", "ddr_bytes"), ("L2", "l2_bytes"), ("VTCM", "vtcm_traffic_bytes"))
    yield "moved", ", ".join(f"{name} {size(getattr(facts, key))}" for name, key in moved)


def _stream(facts: Stream) -> Iterator[str]:
    stalls = f" ({facts.stalls_per_tile} stalls)" if facts.stalls_per_tile else ""
    yield (
        f"{facts.name}: {facts.slots_per_tile} slots{stalls} per tile of {facts.pixels} "
        f"pixels x {facts.channels} channels, {facts.slots_per_row} per row of tiles, "
        f"{facts.slots_per_call} per call"
    )
    if facts.macs_per_tile:
        wait = "; multiplies wait for scalar loads" if facts.scalar_fed else ""
        yield (
            f"  {figure(facts.macs_per_packet)} MACs per slot, "
            f"{percent(facts.efficiency)} of the peak{wait}"
        )
    for segment in facts.segments:
        yield f"  {_heading(segment)}"
        for packet in segment.packets:
            yield f"    {packet.slots}  {packet.pipes}  {packet.asm}"


def _heading(segment: Segment) -> str:
    stalls = f", {segment.stalls} stalls" if segment.stalls else ""
    slots = f"{segment.slots} slots{stalls}, x{segment.times}"
    if segment.initiation_interval is None:
        return f"{segment.name}: {slots}"
    copies = segment.unrolled
    unrolled = f"unrolled {copies} times for its registers; " if copies > 1 else ""
    return (
        f"{segment.name}: initiation interval {segment.initiation_interval}, resource bound "
        f"{segment.resource_bound}, {unrolled}{slots}"
    )
