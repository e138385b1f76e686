"""The figures of one kernel, which the text report shares, as JSON."""

from typing import Any

from hexsim.hvx.layout import DEPTH_SLICE
from hexsim.hvx.listing import loop_asm, pipes, slots, straight_asm
from hexsim.hvx.modulo import Loop
from hexsim.hvx.scheduling import Straight
from hexsim.hvx.streams import Kernel, Segment
from hexsim.reports.document import Record


def _rows(probe: Any) -> Any:
    return -(-probe.blocking.shape.rows // probe.target.workers)


_groups = Record(
    "How the weights of a convolution are divided; only of kernels that divide them.",
    "form=blocking.form",
    {"channels_per_slice": lambda probe: DEPTH_SLICE},
    {"weight_groups": lambda probe: len(probe.blocking.groups)},
    "slices_per_group=blocking.groups.0 slice_bytes=blocking.shape.slice_bytes",
    "weights_in_vtcm=blocking.in_vtcm",
    {
        "vtcm_bytes": lambda probe: (
            probe.blocking.groups[0] * probe.blocking.shape.slice_bytes * probe.blocking.in_vtcm
        ),
        "rows_per_worker": _rows,
        "rows_per_call": lambda probe: min(_rows(probe), probe.blocking.rows_per_call),
        "calls_per_worker": lambda probe: sum(
            probe.blocking.calls(slices, _rows(probe)) for slices in probe.blocking.groups
        ),
    },
)

_blocking = Record(
    "How the layer is cut into jobs.",
    "padding_share=padding_waste",
    {
        "workers": lambda probe: max(min(stage.threads, stage.jobs) for stage in probe.work.stages),
        "nodes": "work.nodes",
        "stages": lambda probe: len(probe.work.stages),
        "prefetches": lambda probe: sum(len(stage.slices) for stage in probe.work.stages),
        "jobs": lambda probe: sum(stage.jobs for stage in probe.work.stages),
    },
    (lambda probe: probe if probe.blocking else None, _groups),
)

_cost = Record(
    "The costs of the layer; the efficiency is a share of the peak of all contexts.",
    "us cycles dispatch_us=timing.dispatch_ps bound cost_model=work.cost_model macs=call.macs",
    "packets=work.packets stall_slots",
    {
        "macs_per_slot": lambda probe: (
            probe.call.macs / max(1, probe.work.packets + probe.stall_slots)
        )
    },
    "peak_macs_per_packet efficiency",
    {"ddr_bytes": lambda probe: probe.work.read_bytes + probe.work.write_bytes},
    "l2_bytes=work.l2_bytes vtcm_traffic_bytes=work.vtcm_bytes",
)


def _unrolled(code: Loop | Straight) -> int:
    return len(loop_asm(code)) // len(code.packets) if isinstance(code, Loop) else 1


def _packets(pair: tuple[Kernel, Segment]) -> list[dict[str, Any]]:
    machine, code = pair[0].machine, pair[1].code
    asm = loop_asm(code) if isinstance(code, Loop) else straight_asm(code)
    return [
        {"slots": slots(machine, packet), "pipes": pipes(machine, packet), "asm": text}
        for packet, text in zip(code.packets, asm, strict=False)
    ]


_segment = Record(
    "A loop, which is given once and not unrolled, or straight code.",
    ("1", "name times slots stalls"),
    {
        "initiation_interval": lambda pair: getattr(pair[1].code, "interval", None),
        "resource_bound": lambda pair: getattr(pair[1].code, "bound", None),
        "unrolled": lambda pair: _unrolled(pair[1].code),
        "packets": _packets,
    },
)

_stream = Record(
    "The costs of a stream's tile, row and call.",
    ("0", "name"),
    ("0.cost", "pixels channels slots_per_tile=tile stalls_per_tile=stalls slots_per_row=row"),
    ("0.cost", "slots_per_call=call macs_per_tile=macs"),
    "macs_per_packet=0.macs_per_packet",
    {"efficiency": lambda pair: pair[0].macs_per_packet / pair[1]},
    ("0.cost", "scalar_fed l2_vectors vtcm_vectors"),
    "note=0.note",
    {
        "segments": (
            lambda pair: [(pair[0], segment) for segment in pair[0].tile if segment.times],
            [_segment],
        )
    },
)

kernel_facts = Record(
    "A kernel alone on a chip, and all that the text report shows.",
    "kernel=kind shape chip stack inputs=call.operands outputs=call.results",
    {
        "blocking": ("", _blocking),
        "cost": ("", _cost),
        "streams": (
            lambda probe: [(kernel, probe.peak_macs_per_packet) for kernel in probe.streams],
            [_stream],
        ),
    },
)
