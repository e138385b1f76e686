"""What a kernel has to know about the machine and the stack to block its work."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.chips import Arch


@dataclass(frozen=True)
class Target:
    """One DSP as Hexagon NN sees it when it prepares a graph.

    `workers` is the number of vector worker threads; `l2_bytes` what a network may use of L2,
    `vtcm_bytes` the tightly coupled memory (0 where there is none).
    """

    version: Arch
    workers: int
    l2_bytes: int
    vtcm_bytes: int

    @property
    def signed_weights(self) -> bool:
        """True if weights are signed, so that convolutions need no sums of activations."""
        return self.version in ("v65", "v66")

    @property
    def activation_l2_bytes(self) -> int:
        """L2 left to activations: V60 and V62 keep the ring of weight slices there as well."""
        return self.l2_bytes if self.vtcm_bytes else self.l2_bytes // 2
