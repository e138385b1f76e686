"""Neurons that are not fused into another layer: a clamp, or a table of 256 codes.

A table is looked up by three workers at most. In d32 a job is a slice of 32 channels, so that a
tensor of 32 channels has one worker; flat tensors have more jobs than workers.
Source: Hexagon NN, relu_kernel_h.S, op_tanh_d32.c.
"""

import math
from dataclasses import replace

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import is_16bit, twice
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import ceil_div, depth_slices, is_spatial
from hexsim.hvx.streams import Kernel, elementwise, halfwords
from hexsim.layers import Neuron
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_TABLE_WORKERS = 3


def streams(call: KernelCall[Neuron], target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the function."""
    if call.layer.function != "clamp":
        return (elementwise.table(target.machine),)
    return ((halfwords if is_16bit(call) else elementwise).clamp(target.machine),)


def work(call: KernelCall[Neuron], target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers."""
    (kernel,) = streams(call, target)
    workers = min(target.workers, _workers(call, kernel))
    stage = per_vector_stage(
        call.results[0], kernel.cost, workers, traffic, target.l2_bytes, padded=True
    )
    work = NodeWork((replace(stage, streams=workers),), "kernel")
    return twice(work) if is_16bit(call) and kernel.name == "table" else work


def _workers(call: KernelCall[Neuron], kernel: Kernel) -> int:
    """Return the workers of a function: for a table, as many as share its slices evenly."""
    jobs = math.prod(call.results[0])
    if kernel.name == "table":
        if is_spatial(call.results[0]):
            batch, _, _, channels = as_nhwc(call.results[0])
            jobs = batch * depth_slices(channels)
        jobs = ceil_div(jobs, ceil_div(jobs, _TABLE_WORKERS))
    return max(1, jobs)


MODELS: Models = {Neuron: KernelModel(streams, work, takes_16_bits=True)}
