"""The figures of one kernel, which the text report shares, as JSON."""

from __future__ import annotations

from typing import Any

from hexsim.hvx.assembly import loop_asm, straight_asm
from hexsim.hvx.layout import DEPTH_SLICE
from hexsim.hvx.modulo import Loop
from hexsim.hvx.occupancy import pipes, slots
from hexsim.hvx.streams import Kernel, Segment
from hexsim.reports.document import attributes, json_document
from hexsim.studies.kernel_probe import KernelProbe


def blocking_facts(probe: KernelProbe) -> dict[str, Any]:
    """Return how the layer is cut into jobs; shares are 0 .. 1."""
    stages = probe.work.stages
    facts: dict[str, Any] = {
        "padding_share": probe.padding_waste,
        "workers": max(min(stage.threads, stage.jobs) for stage in stages),
        "nodes": probe.work.nodes,
        "stages": len(stages),
        "prefetches": sum(len(stage.slices) for stage in stages),
        "jobs": sum(stage.jobs for stage in stages),
    }
    blocking = probe.blocking
    if blocking is not None:
        groups = blocking.groups
        rows = -(-blocking.shape.rows // probe.target.workers)
        facts |= {
            "form": blocking.form,
            "channels_per_slice": DEPTH_SLICE,
            "weight_groups": len(groups),
            "slices_per_group": groups[0],
            "slice_bytes": blocking.shape.slice_bytes,
            "weights_in_vtcm": blocking.in_vtcm,
            "vtcm_bytes": groups[0] * blocking.shape.slice_bytes if blocking.in_vtcm else 0,
            "rows_per_worker": rows,
            "rows_per_call": min(rows, blocking.rows_per_call),
            "calls_per_worker": sum(blocking.calls(slices, rows) for slices in groups),
        }
    return facts


def cost_facts(probe: KernelProbe) -> dict[str, Any]:
    """Return the costs of the layer; `efficiency` is a share of the peak of all contexts."""
    work, timing = probe.work, probe.timing
    issued = work.packets + probe.stall_slots
    return {
        "us": probe.us,
        "cycles": probe.cycles,
        "dispatch_us": timing.dispatch_ps / 1e6,
        "bound": probe.bound,
        "cost_model": work.cost_model,
        "macs": probe.call.macs,
        "packets": work.packets,
        "stall_slots": probe.stall_slots,
        "macs_per_slot": probe.call.macs / max(1, issued),
        "peak_macs_per_packet": probe.peak_macs_per_packet,
        "efficiency": probe.efficiency,
        "ddr_bytes": work.read_bytes + work.write_bytes,
        "l2_bytes": work.l2_bytes,
        "vtcm_traffic_bytes": work.vtcm_bytes,
    }


def stream_facts(kernel: Kernel, peak: float) -> dict[str, Any]:
    """Return the costs of a stream's tile, row and call, and the packets of the tile's segments."""
    cost = kernel.cost
    return {
        "name": kernel.name,
        **attributes(cost, "pixels", "channels", slots_per_tile="tile", stalls_per_tile="stalls"),
        **attributes(cost, slots_per_row="row", slots_per_call="call", macs_per_tile="macs"),
        "macs_per_packet": kernel.macs_per_packet,
        "efficiency": kernel.macs_per_packet / peak,
        **attributes(cost, "scalar_fed", "l2_vectors", "vtcm_vectors"),
        "note": kernel.note,
        "segments": [_segment(kernel, segment) for segment in kernel.tile if segment.times],
    }


def _segment(kernel: Kernel, segment: Segment) -> dict[str, Any]:
    code, machine = segment.code, kernel.machine
    is_loop = isinstance(code, Loop)
    asm = loop_asm(code) if isinstance(code, Loop) else straight_asm(code)
    packets = code.packets
    return {
        **attributes(segment, "name", "times", "slots", "stalls"),
        "initiation_interval": code.interval if isinstance(code, Loop) else None,
        "resource_bound": code.bound if isinstance(code, Loop) else None,
        "unrolled": len(asm) // len(packets) if is_loop else 1,
        "packets": [
            {"slots": slots(machine, packet), "pipes": pipes(machine, packet), "asm": text}
            for packet, text in zip(packets, asm, strict=False)
        ],
    }


def kernel_json(probe: KernelProbe) -> str:
    """Return everything that the text report shows; loops are given once, not unrolled."""
    document = {
        **attributes(probe, kernel="kind", shape="shape", chip="chip", stack="stack"),
        **attributes(probe, inputs="call.operands", outputs="call.results"),
        "blocking": blocking_facts(probe),
        "cost": cost_facts(probe),
        "streams": [stream_facts(kernel, probe.peak_macs_per_packet) for kernel in probe.streams],
    }
    return json_document(document)
