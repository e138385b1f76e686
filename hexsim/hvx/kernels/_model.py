"""What the file of a layer type offers: its kernel model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hexsim.graph.ir import Layer
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def _none(call: KernelCall, target: Target) -> int:
    """What layers without weights take."""
    return 0


@dataclass(frozen=True)
class KernelModel:
    """How the calls of a layer type are blocked and what they cost.

    `streams` are the instruction streams of a call and `work` its work items, given what its
    activations move in DDR. `weight_bytes` are those of L2 that weights take while it runs,
    `packed_bytes` those of the copy of its weights that the kernel makes for itself when the
    network is loaded, `vtcm_bytes` what it holds of VTCM. `takes_16_bits` says that all this is
    meant for 16-bit activations too.
    """

    streams: Callable[[KernelCall, Target], tuple[Kernel, ...]]
    work: Callable[[KernelCall, Target, Traffic], NodeWork]
    weight_bytes: Callable[[KernelCall, Target], int] = _none
    packed_bytes: Callable[[KernelCall, Target], int] = _none
    vtcm_bytes: Callable[[KernelCall, Target], int] = _none
    takes_16_bits: bool = False


Models = Mapping[type[Layer], KernelModel]
