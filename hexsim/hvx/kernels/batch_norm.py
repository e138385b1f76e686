"""Batch norm that is not folded into a convolution: a multiply-add per vector, two threads.

Source: Hexagon NN, op_batchnorm_d32.c, in C; it computes the padding on the left of each row.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.layers import BatchNorm
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_THREADS = 2


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop."""
    return (elementwise.batch_norm(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the threads."""
    (kernel,) = streams(call, target)
    stage = per_vector_stage(
        call.results[0],
        kernel.cost,
        min(_THREADS, target.workers),
        traffic.reading(call.parameter_bytes),
        target.l2_bytes,
        padded=True,
    )
    return NodeWork((stage,), "kernel")


MODELS: Models = {BatchNorm: KernelModel(streams, work)}
