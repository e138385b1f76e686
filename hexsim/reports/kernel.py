"""One kernel as text: blocking, cost, and its streams packet by packet.

The line of a packet shows which slots (0 to 3) and vector pipes (P permute, S shift, M multiply)
it fills; a dot stands for a free one.
"""

from collections.abc import Iterator

from hexsim.graph.ir import Shape
from hexsim.results.kernel import Blocking, Kernel, KernelCost, Segment, Stream
from hexsim.texts.figures import figure, percent, size

_NAME_WIDTH = 16


def kernel_table(answer: Kernel) -> str:
    """Return the report of one kernel."""
    inputs = " + ".join(map(_shape, answer.inputs))
    title = (
        f"{answer.kernel} {inputs} -> {_shape(answer.outputs[0])} "
        f"on {answer.chip} (V{answer.version}), {answer.stack}"
    )
    lines = [title, "", "blocking", *_lines(_blocking(answer.blocking))]
    lines += ["", "cost", *_lines(_cost(answer.cost))]
    for stream in answer.streams:
        lines += ["", *_stream(stream)]
    return "\n".join(lines)


def _shape(shape: Shape) -> str:
    return "x".join(str(size) for size in (shape[1:] if len(shape) == 4 else shape))


def _lines(facts: Iterator[tuple[str, str]]) -> Iterator[str]:
    return (f"  {name.ljust(_NAME_WIDTH)}{text}" for name, text in facts)


def _blocking(facts: Blocking) -> Iterator[tuple[str, str]]:
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


def _cost(facts: KernelCost) -> Iterator[tuple[str, str]]:
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
            text = packet.asm.strip("{} ").replace("\n  ", "; ")
            yield f"    {packet.slots}  {packet.pipes}  {text}"


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
