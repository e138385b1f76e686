"""The kernel model of a layer type, which its file defines.

The constants of machine and stack by which kernels block their work.

16-bit activations: the cost of layers without streams for them.

Such a layer costs twice the packets, stalls and bytes of its 8-bit form, because a vector
holds half as many codes. This is exact for a loop whose instructions exist for halfwords (maximum
of a window) and an estimate for others (depthwise as two passes, lookups in a table of halfwords).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from hexsim.datasheets.chips import Chip, SignedKernels, version
from hexsim.datasheets.stacks import Stack
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.layout import VECTOR_BYTES
from hexsim.hvx.streams import Kernel
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass, replace
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage


@dataclass(frozen=True)
class Target:
    """The DSP for which Hexagon NN prepares a graph.

    `machine` is the vector unit that the streams are scheduled for, `workers` the number of vector
    worker threads; `l2_bytes` is the L2 that a network may use, `vtcm_bytes` the tightly coupled
    memory (0 if there is none). `restart_slots` are lost when a thread leaves a loop by a
    mispredicted jump: the packets in flight and, because the queue of vector loads is
    empty, the latency of the first load from L2. `depthwise_stall` is a factor on the time of
    depthwise loops; `each_row` says that fully connected layers compute one row after another.

    `convolution_packets` are those of the main thread before a dense convolution,
    `operator_workers` is the most workers of element-wise layers, poolings and concats.
    `load_slots` are lost for each operand of a loop that waits for its loads from L2, 0 if
    loops load ahead. Products of tensors have no prefetch unless `prefetches_products`, and run on
    at most `product_workers`. For each slice of 32 channels the main thread spends
    `hand_off_packets` on each worker and `wake_packets` on their end, 0 if all slices are one job.
    `softmax_packets` are those of scalar code for an element of a softmax, 0 for vector loops.
    """

    machine: HvxMachine
    workers: int
    l2_bytes: int
    vtcm_bytes: int
    restart_slots: int = 0
    depthwise_stall: float = 1.0
    each_row: bool = False
    convolution_packets: int = 0
    operator_workers: int = 4
    load_slots: float = 0.0
    prefetches_products: bool = True
    product_workers: int = 4
    hand_off_packets: int = 0
    wake_packets: int = 0
    softmax_packets: int = 0

    @classmethod
    def of(cls, chip: Chip, stack: Stack) -> Target:
        """Return the target of a chip and a stack; HexsimError if d32 does not fit its vectors."""
        dsp, kernels, machine = chip.dsp, stack.kernels, _vector_unit(chip)
        by_slices = kernels.products == "each slice"

        def main_packets(clocks: float) -> int:
            """Return the packets of the main thread, which is alone in its cluster."""
            return round(clocks * dsp.lone_thread_speedup / dsp.issue_clk_per_packet)

        return cls(
            machine=machine,
            workers=min(stack.dispatch.max_vector_workers, dsp.hvx.contexts),
            l2_bytes=dsp.l2_bytes - dsp.l2_audio_bytes,
            vtcm_bytes=dsp.vtcm_bytes,
            restart_slots=round(
                dsp.jump_penalty_packets + dsp.l2_latency_clk / dsp.issue_clk_per_packet
            ),
            depthwise_stall=kernels.depthwise_stall_v66 if machine.version >= 66 else 1.0,
            each_row=kernels.matrix_rows == "each",
            convolution_packets=main_packets(stack.dispatch.convolution_clk),
            operator_workers=kernels.operator_workers,
            load_slots=dsp.l2_latency_clk / dsp.issue_clk_per_packet * kernels.waits_for_loads,
            prefetches_products=kernels.products == "prefetched",
            product_workers=1 if kernels.products == "one worker" else dsp.hvx.contexts,
            hand_off_packets=main_packets(stack.dispatch.hand_off_clk) * by_slices,
            wake_packets=main_packets(stack.qurt.wake_clk) * by_slices,
            softmax_packets=round(kernels.softmax_packets),
        )

    @cached_property
    def _without_stall(self) -> Target:
        return replace(self, depthwise_stall=1.0)

    def seen_by(self, *calls: KernelCall) -> Target:
        """Return the target without what the work of calls does not depend on."""
        return self if any(call.is_depthwise for call in calls) else self._without_stall

    def workers_of(self, most: int) -> int:
        """Return the workers of an operator that uses at most `most` by itself."""
        return min(self.workers, self.operator_workers, most)

    @property
    def version(self) -> int:
        """Architecture version, e.g. 66."""
        return self.machine.version

    @property
    def signed_kernels(self) -> SignedKernels | None:
        """The kernels that multiply by signed weights; None before V65."""
        return SignedKernels.of(self.version, self.vtcm_bytes)


def _vector_unit(chip: Chip) -> HvxMachine:
    """Return the machine for which streams are scheduled."""
    hvx = chip.dsp.hvx
    if hvx.vector_bytes != VECTOR_BYTES:
        raise HexsimError(
            f"chip {chip.name}, key dsp.hvx.vector_bytes: layers are laid out in vectors of "
            f"{VECTOR_BYTES} bytes, not {hvx.vector_bytes}"
        )
    return HvxMachine(
        version(chip.dsp.arch),
        VECTOR_BYTES,
        permute_pipes=hvx.permute_pipes,
        shift_pipes=hvx.shift_pipes,
        multiply_pipes=hvx.multiply_pipes,
        load_ports=hvx.load_ports,
        store_ports=hvx.store_ports,
    )


@dataclass(frozen=True)
class KernelMemory:
    """Bytes that a call occupies.

    `weight_bytes` are of L2 for weights while it runs, `packed_bytes` the copy of its weights that
    the kernel packs when the network is loaded, `vtcm_bytes` of VTCM.
    """

    weight_bytes: int = 0
    packed_bytes: int = 0
    vtcm_bytes: int = 0


@dataclass(frozen=True)
class KernelModel:
    """Blocking and cost of the calls of a layer type.

    `streams` are the instruction streams of a call and `work` its work items for the DDR traffic
    of its activations. `takes_16_bits` says that all this is valid for 16-bit activations too.
    """

    streams: Callable[[KernelCall[Any], Target], tuple[Kernel, ...]]
    work: Callable[[KernelCall[Any], Target, Traffic], NodeWork]
    memory: Callable[[KernelCall[Any], Target], KernelMemory] = lambda call, target: KernelMemory()
    takes_16_bits: bool = False


Models = Mapping[type[Layer], KernelModel]


def is_16bit(call: KernelCall) -> bool:
    """Tell whether the call computes with 16-bit codes."""
    return call.activation_bits > 8


def of_width(name: str, call: KernelCall) -> str:
    """Return which form of a loop a call runs, that of 8-bit or of 16-bit codes."""
    return f"{name}_16bit" if is_16bit(call) else name


def twice(work: NodeWork) -> NodeWork:
    """Return the work with twice the packets and bytes in every job, as a generic cost."""
    stages = tuple(map(twice_stage, work.stages))
    return NodeWork(stages, "generic", work.nodes, work.main_packets)


def twice_stage(stage: Stage) -> Stage:
    """Return the stage with twice the packets and bytes in every job."""
    slices = (
        dataclasses.replace(piece, items=tuple(item.times(2) for item in piece.items))
        for piece in stage.slices
    )
    return dataclasses.replace(stage, slices=tuple(slices))
