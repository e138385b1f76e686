"""Prelu. Source: Hexagon NN, prelu_d32.S."""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows over the workers."""
    stage = per_vector_stage(
        call.results[0],
        counted.PRELU,
        target.workers,
        traffic.reading(call.parameter_bytes),
        target.l2_bytes,
    )
    return NodeWork((stage,), "kernel")
