"""Local response normalisation: an expensive loop, on one thread per batch item.

Source: Hexagon NN, lrn_d32_hvx.S, op_lrn_d32.c (line 242).
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.local_response_norm import vector
from hexsim.layers import LocalResponseNorm
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop of one vector with its neighbours, limited by the channels."""
    assert isinstance(call.layer, LocalResponseNorm)
    radius = min(call.layer.size // 2, call.results[0][-1] - 1)
    return (vector(target.machine, max(radius, 0)),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors among as many threads as the batch has items."""
    (kernel,) = streams(call, target)
    shape = call.results[0]
    threads = min(shape[0], target.workers)
    stage = per_vector_stage(shape, kernel.cost, threads, traffic, target.l2_bytes, padded=True)
    return NodeWork((stage,), "kernel")


MODELS: Models = {LocalResponseNorm: KernelModel(streams, work)}
