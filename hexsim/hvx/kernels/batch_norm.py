"""Batch norm that stayed a layer: an estimated multiply-add per vector, two threads at most.

Source: Hexagon NN, op_batchnorm_d32.c, written in C there.
"""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork

_THREADS = 2


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows over the threads."""
    stage = per_vector_stage(
        call.results[0],
        counted.ELEMENTWISE,
        min(_THREADS, target.workers),
        traffic.reading(call.parameter_bytes),
        target.l2_bytes,
    )
    return NodeWork((stage,), "generic")
