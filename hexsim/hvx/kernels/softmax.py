"""Softmax: three passes over each row (maximum, exponential, scale), two threads at most.

Left out: the reciprocal of each row's sum, which is scalar code.
Source: Hexagon NN, op_softmax_d32.c, in C.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.softmax import vector
from hexsim.layers import Softmax
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_THREADS = 2


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return all passes over one vector."""
    return (vector(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return jobs of rows, each with all passes."""
    (kernel,) = streams(call, target)
    threads = min(_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel")


MODELS: Models = {Softmax: KernelModel(streams, work)}
