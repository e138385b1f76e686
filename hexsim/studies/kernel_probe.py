"""One kernel on one chip, alone: its blocking, the cost of its streams, and its time.

There is no network around it: inputs lie in L2 as far as they fit, weights come from DDR.
"""

import math
from typing import Any

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.hvx.kernels import Target, activation_l2_bytes, kernel_streams, node_work
from hexsim.hvx.kernels.conversion import from_d32, scalar_copies, to_d32
from hexsim.hvx.kernels.convolution import Blocking, DenseShape
from hexsim.hvx.layout import DEPTH_SLICE, stored_bytes, tensor_sizes
from hexsim.hvx.listing import loop_asm, pipes, slots, straight_asm
from hexsim.hvx.modulo import Loop
from hexsim.hvx.streams import Kernel, Segment, listed
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall, PlannedSubnet
from hexsim.records import dataclass
from hexsim.results import kernel as results
from hexsim.simulation.phone import Phone
from hexsim.simulation.phone_dsp import PhoneDsp
from hexsim.simulation.residency import subnet_traffic
from hexsim.studies.kernel_code import loop_name, stream_loops
from hexsim.studies.probes import kernel_call
from hexsim.timing.memory import Traffic
from hexsim.timing.picoseconds import PS_PER_US, ps_to_clocks
from hexsim.timing.results import NodeTiming, largest
from hexsim.timing.work import NodeWork

_EDGES = {"to_d32": to_d32, "from_d32": from_d32}


@dataclass(frozen=True)
class KernelProbe:
    """The results for a kernel on the DSP of a phone."""

    kind: str
    shape: str
    platform: Platform
    call: KernelCall
    dsp: PhoneDsp
    streams: tuple[Kernel, ...]
    work: NodeWork
    timing: NodeTiming

    @property
    def stall_slots(self) -> int:
        """Interlocks and waits for memory of all threads."""
        return round(sum(self.dsp.core.stall_slots(item) for item in self.work.items))

    @property
    def us(self) -> float:
        """Duration of the node in microseconds, dispatch included."""
        return (self.timing.end_ps - self.timing.start_ps) / PS_PER_US

    @property
    def cycles(self) -> int:
        """Duration of the node in core clocks."""
        return ps_to_clocks(self.timing.end_ps - self.timing.start_ps, self.dsp.clock_hz)

    @property
    def efficiency(self) -> float:
        """Multiply-adds of the layer over what the whole vector unit could do in its time."""
        peak = self.platform.chip.dsp.hvx.int8_macs_per_clk
        return self.call.macs / max(1.0, self.cycles * peak)

    @property
    def blocking(self) -> Blocking | None:
        """The blocking of a dense convolution (of one group of a grouped one)."""
        layer = self.call.layer
        if not isinstance(layer, Convolution) or self.call.is_depthwise:
            return None
        return Blocking(DenseShape.of(self.call, layer), self.dsp.target)

    @property
    def padding_waste(self) -> float:
        """Share of padding in the multiply-adds of a dense convolution, otherwise in the bytes of
        inputs and outputs."""
        blocking = self.blocking
        if blocking is not None:
            assert isinstance(self.call.layer, Convolution)
            done = self.call.layer.groups * blocking.macs
            return 1 - self.call.macs / done
        shapes = (*self.call.operands, *self.call.results)
        if self.kind in _EDGES:
            return 1 - sum(map(math.prod, shapes)) / sum(map(stored_bytes, shapes))
        stored = sum(tensor_sizes(_subnet(self.call)).values())
        return 1 - (self.call.operand_bytes + self.call.result_bytes) / stored


def probe(kind: str, shape: str, platform: Platform) -> KernelProbe:
    """Block, schedule and time one kernel; HexsimError for an unknown kind or a bad shape."""
    call = kernel_call(kind, shape)
    platform.chip.require("dsp")
    phone = Phone(platform.chip, platform.stack, [platform.stack.profile()])
    dsp = phone.dsp
    streams, work = _work(kind, call, dsp.target)
    node = phone.env.process(dsp.session("", 0).run_node(kind, work))
    timing = phone.env.run(node)
    assert isinstance(timing, NodeTiming)
    return KernelProbe(kind, shape, platform, call, dsp, streams, work, timing)


def _work(kind: str, call: KernelCall, target: Target) -> tuple[tuple[Kernel, ...], NodeWork]:
    if kind in _EDGES:
        spilled = max(0, stored_bytes(call.operands[0]) - target.l2_bytes)
        moved = Traffic(write_bytes=spilled) if kind == "to_d32" else Traffic(spilled)
        stage = _EDGES[kind](call.operands[0], target, moved)
        if stage is None:
            raise HexsimError(f"{kind} does nothing: tensors without spatial axes stay flat")
        if call.operands[0][-1] < DEPTH_SLICE:
            ((kernel, _),) = scalar_copies(call.operands[0], target)
        else:
            kernel = listed(kind, target.machine)
        return (kernel,), NodeWork((stage,), "kernel")
    subnet = _subnet(call)
    share = activation_l2_bytes(call, target)
    (traffic,) = subnet_traffic(subnet, target.l2_bytes, [share], tensor_sizes(subnet)).calls
    return kernel_streams(call, target), node_work(call, target, traffic)


def _subnet(call: KernelCall) -> PlannedSubnet:
    return PlannedSubnet(
        runtime="dsp",
        engine="hvx",
        reason="",
        calls=(call,),
        inputs=call.layer.inputs,
        outputs=call.layer.outputs,
        input_shapes=call.operands,
        output_shapes=call.results,
    )


def described(probe: KernelProbe) -> results.Kernel:
    """Return the answer of a probe as a document, with every packet of its streams."""
    call, work, dsp = probe.call, probe.work, probe.dsp
    stages, peak = work.stages, dsp.peak_macs_per_packet
    return results.Kernel(
        kernel=probe.kind,
        shape=probe.shape,
        chip=probe.platform.chip.name,
        version=dsp.target.version,
        stack=probe.platform.stack.name,
        clock_hz=dsp.clock_hz,
        inputs=call.operands,
        outputs=call.results,
        blocking=results.Blocking(
            padding_share=probe.padding_waste,
            workers=max(min(stage.threads, stage.jobs) for stage in stages),
            nodes=work.nodes,
            stages=len(stages),
            prefetches=sum(len(stage.slices) for stage in stages),
            jobs=sum(stage.jobs for stage in stages),
            **_weight_groups(probe.blocking, dsp.target.workers),
        ),
        cost=results.KernelCost(
            us=probe.us,
            cycles=probe.cycles,
            dispatch_us=probe.timing.dispatch_ps / PS_PER_US,
            bound=largest(probe.timing.parts_ps),
            cost_model=work.cost_model,
            macs=call.macs,
            packets=work.packets,
            stall_slots=probe.stall_slots,
            macs_per_slot=call.macs / max(1, work.packets + probe.stall_slots),
            peak_macs_per_packet=peak,
            efficiency=probe.efficiency,
            ddr_bytes=work.read_bytes + work.write_bytes,
            l2_bytes=work.l2_bytes,
            vtcm_traffic_bytes=work.vtcm_bytes,
        ),
        streams=tuple(_stream(kernel, peak) for kernel in probe.streams),
        loops=tuple(stream_loops(probe.streams, probe.platform)),
    )


def _weight_groups(blocking: Blocking | None, workers: int) -> dict[str, Any]:
    """Return how the weights of a convolution are divided; nothing for other kernels."""
    if blocking is None:
        return {}
    slices, slice_bytes = blocking.groups[0], blocking.shape.slice_bytes
    rows = -(-blocking.shape.rows // workers)
    return {
        "form": blocking.form,
        "channels_per_slice": DEPTH_SLICE,
        "weight_groups": len(blocking.groups),
        "slices_per_group": slices,
        "slice_bytes": slice_bytes,
        "weights_in_vtcm": blocking.in_vtcm,
        "vtcm_bytes": slices * slice_bytes * blocking.in_vtcm,
        "rows_per_worker": rows,
        "rows_per_call": min(rows, blocking.rows_per_call),
        "calls_per_worker": sum(blocking.calls(of_group, rows) for of_group in blocking.groups),
    }


def _stream(kernel: Kernel, peak_macs_per_packet: float) -> results.Stream:
    cost = kernel.cost
    return results.Stream(
        name=kernel.name,
        pixels=cost.pixels,
        channels=cost.channels,
        slots_per_tile=cost.tile,
        stalls_per_tile=cost.stalls,
        slots_per_row=cost.row,
        slots_per_call=cost.call,
        macs_per_tile=cost.macs,
        macs_per_packet=kernel.macs_per_packet,
        efficiency=kernel.macs_per_packet / peak_macs_per_packet,
        scalar_fed=cost.scalar_fed,
        l2_vectors=cost.l2_vectors,
        vtcm_vectors=cost.vtcm_vectors,
        note=kernel.note,
        segments=tuple(_segment(kernel, part) for part in kernel.tile if part.times),
    )


def _segment(kernel: Kernel, segment: Segment) -> results.Segment:
    code, machine = segment.code, kernel.machine
    loop = code if isinstance(code, Loop) else None
    return results.Segment(
        name=segment.name,
        times=segment.times,
        slots=segment.slots,
        stalls=segment.stalls,
        initiation_interval=None if loop is None else loop.interval,
        resource_bound=None if loop is None else loop.bound,
        unrolled=1 if loop is None else len(loop_asm(loop)) // len(loop.packets),
        loop=None if loop is None else loop_name(kernel, segment),
        packets=()
        if isinstance(code, Loop)
        else tuple(
            results.PacketText(
                slots=slots(classes),
                pipes=pipes(machine, classes),
                asm=text.strip("{} ").replace("\n  ", "; "),
            )
            for packet, text in zip(code.packets, straight_asm(code), strict=True)
            for classes in ([insn.instruction_class(machine) for insn in packet.insns],)
        ),
    )
