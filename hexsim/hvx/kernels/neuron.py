"""Neurons that are not fused into another layer: a clamp, or a table of 256 codes.

A table is looked up by three workers at most.
Source: Hexagon NN, relu_kernel_h.S, op_tanh_d32.c.
"""

from __future__ import annotations

from dataclasses import replace

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import is_16bit, twice
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise, halfwords
from hexsim.layers import Neuron
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


_TABLE_WORKERS = 3


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the function."""
    assert isinstance(call.layer, Neuron)
    if call.layer.function != "clamp":
        return (elementwise.table(target.machine),)
    return ((halfwords if is_16bit(call) else elementwise).clamp(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers."""
    (kernel,) = streams(call, target)
    workers = min(target.workers, _TABLE_WORKERS if kernel.name == "table" else target.workers)
    stage = per_vector_stage(
        call.results[0], kernel.cost, workers, traffic, target.l2_bytes, padded=True
    )
    work = NodeWork((replace(stage, streams=workers),), "kernel")
    return twice(work) if is_16bit(call) and kernel.name == "table" else work


MODELS: Models = {Neuron: KernelModel(streams, work, takes_16_bits=True)}
