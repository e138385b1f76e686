"""Local response normalisation: the costliest loop per output, on one thread per batch item.

Source: Hexagon NN, lrn_d32_hvx.S, op_lrn_d32.c (line 242).
"""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.layers import LocalResponseNorm
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Vectors of the tensor over as many threads as the batch has items."""
    assert isinstance(call.layer, LocalResponseNorm)
    shape = call.results[0]
    threads = min(shape[0], target.workers)
    cost = counted.local_response_norm(call.layer.size)
    return NodeWork((per_vector_stage(shape, cost, threads, traffic, target.l2_bytes),), "kernel")
