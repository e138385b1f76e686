"""Kernel models: the cost of each layer on the vector unit, as work items.

One file per layer type; its table MODELS says which. A kernel decides how Hexagon NN blocks the
layer (`work`) and which instruction streams compute it (`streams`); the packets of its loops are
those of the scheduled streams.
"""

from hexsim.discovery import joined
from hexsim.hvx.kernels import generic
from hexsim.hvx.kernels._blocking import prefetch_bytes
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit, twice
from hexsim.hvx.streams import Kernel
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

__all__ = [
    "MODELS",
    "Target",
    "activation_l2_bytes",
    "kernel_streams",
    "node_work",
    "packed_bytes",
    "vtcm_bytes",
]

MODELS: Models = joined(__name__, "MODELS")
"""By layer type; one whose declaration says so has a generic cost instead."""


def _model(call: KernelCall) -> KernelModel:
    return generic.MODEL if call.layer.generic_cost else MODELS[type(call.layer)]


def kernel_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the instruction streams that one kernel call runs.

    A call of 16-bit activations without streams of its own gives the 8-bit ones.
    """
    return _model(call).streams(call, target)


def node_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return the work items of one kernel call; `traffic` is that of its activations in DDR.

    16-bit activations without streams of their own take twice the packets and bytes of the 8-bit
    kernels, reported as a generic cost.
    """
    model = _model(call)
    work = model.work(call, target, traffic)
    return twice(work) if is_16bit(call) and not model.takes_16_bits else work


def activation_l2_bytes(call: KernelCall, target: Target) -> int:
    """Return the bytes of L2 that activations may occupy during a call.

    What its weights leave, and always the share that a prefetch of rows may fill.
    Source: Hexagon NN, hexagon/ops/src/op_supernode_new.c (2599-2765), op_superfc_d32.c (718-722).
    """
    least = prefetch_bytes(target.l2_bytes)
    return max(least, target.l2_bytes - _model(call).weight_bytes(call, target))


def packed_bytes(call: KernelCall, target: Target) -> int:
    """Return the bytes of the packed weights of a kernel call, 0 if it packs none."""
    return _model(call).packed_bytes(call, target)


def vtcm_bytes(call: KernelCall, target: Target) -> int:
    """Return the bytes of VTCM that a kernel call occupies."""
    return _model(call).vtcm_bytes(call, target)
