"""What a kernel has to know about the machine and the stack to block its work."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.hvx.isa import Machine
from hexsim.platforms.architecture import takes_signed_weights


@dataclass(frozen=True)
class Target:
    """One DSP as Hexagon NN sees it when it prepares a graph.

    `machine` is the vector unit that the streams are scheduled for, `workers` the number of vector
    worker threads; `l2_bytes` what a network may use of L2, `vtcm_bytes` the tightly coupled
    memory (0 where there is none). `restart_slots` are lost when a thread leaves a loop by a jump
    that was predicted to stay: the packets in flight, and, because the queue of vector loads has
    run dry, the first load's way to L2. `depthwise_stall` stretches depthwise loops; `each_row`
    says that matrix products bring their weights anew for every row.
    """

    machine: Machine
    workers: int
    l2_bytes: int
    vtcm_bytes: int
    restart_slots: int = 0
    depthwise_stall: float = 1.0
    each_row: bool = False

    @property
    def version(self) -> int:
        """Architecture version, e.g. 66."""
        return self.machine.version

    @property
    def signed_weights(self) -> bool:
        """True if weights are signed, so that convolutions need no sums of activations."""
        return takes_signed_weights(self.version)
