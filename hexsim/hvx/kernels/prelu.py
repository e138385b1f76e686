"""Prelu. Source: Hexagon NN, prelu_d32.S."""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.layers import Prelu
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop."""
    return (elementwise.prelu(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers."""
    (kernel,) = streams(call, target)
    stage = per_vector_stage(
        call.results[0],
        kernel.cost,
        target.workers,
        traffic.reading(call.parameter_bytes),
        target.l2_bytes,
        padded=True,
    )
    return NodeWork((stage,), "kernel")


MODELS: Models = {Prelu: KernelModel(streams, work)}
