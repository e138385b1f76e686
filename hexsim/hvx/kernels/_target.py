"""The constants of machine and stack by which kernels block their work."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.datasheets.architecture import version
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.signed_kernels import SignedKernels
from hexsim.datasheets.stacks import Stack
from hexsim.errors import HexsimError
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.layout import VECTOR_BYTES


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
    loops load ahead. Products of two tensors find what is not in L2 only if `prefetches_products`.
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

    @classmethod
    def of(cls, chip: Chip, stack: Stack) -> Target:
        """Return the target of a chip and a stack; HexsimError if d32 does not fit its vectors."""
        dsp, kernels, machine = chip.dsp, stack.kernels, _vector_unit(chip)
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
            convolution_packets=round(
                stack.dispatch.convolution_clk * dsp.lone_thread_speedup / dsp.issue_clk_per_packet
            ),
            operator_workers=kernels.operator_workers,
            load_slots=dsp.l2_latency_clk / dsp.issue_clk_per_packet * kernels.waits_for_loads,
            prefetches_products=kernels.prefetches_products,
        )

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
