"""Softmax: four passes (maximum, exponential, sum, division), two threads at most.

Hexagon NN writes it in C, so its packets are estimated.
Source: Hexagon NN, op_softmax_d32.c.
"""

from __future__ import annotations

import dataclasses

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork

_PASSES = 4
_THREADS = 2


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """All passes of a row in one job."""
    cost = dataclasses.replace(counted.TABLE, tile=_PASSES * counted.TABLE.tile)
    threads = min(_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "generic")
