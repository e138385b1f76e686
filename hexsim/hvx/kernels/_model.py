"""The kernel model of a layer type, which its file defines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hexsim.graph.ir import Layer
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def _none(call: KernelCall, target: Target) -> int:
    """Return no bytes, for layers without weights."""
    return 0


@dataclass(frozen=True)
class KernelModel:
    """Blocking and cost of the calls of a layer type.

    `streams` are the instruction streams of a call and `work` its work items for the DDR traffic
    of its activations. `weight_bytes` is the L2 that weights occupy while it runs,
    `packed_bytes` the copy of its weights that the kernel packs when the network is loaded,
    `vtcm_bytes` the VTCM that it occupies. `takes_16_bits` says that all this is
    valid for 16-bit activations too.
    """

    streams: Callable[[KernelCall[Any], Target], tuple[Kernel, ...]]
    work: Callable[[KernelCall[Any], Target, Traffic], NodeWork]
    weight_bytes: Callable[[KernelCall[Any], Target], int] = _none
    packed_bytes: Callable[[KernelCall[Any], Target], int] = _none
    vtcm_bytes: Callable[[KernelCall[Any], Target], int] = _none
    takes_16_bits: bool = False


Models = Mapping[type[Layer], KernelModel]
