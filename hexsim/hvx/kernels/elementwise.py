"""Elementwise layers: one loop for sums, one for products, one for quotients; neurons and Prelu.

A difference is a sum with a negative scale; maximum and minimum replace the addition. A quotient of
16-bit codes, for whose reciprocals there is no table, costs twice that of 8 bits. Operands beyond
the second are combined one after another, each in its own node. The loops are in C and use an
operand in the statement after its load, so they wait for it. Products of two tensors that are not
prefetched wait for DDR (`hexsim.hvx.kernels._blocking`), and Hexagon NN multiplies one slice of 32
channels after the other, each with a join. Source: Hexagon NN, quant_add_spec_h.S, op_add_d32.c,
op_mul_d32.c; the loops compute the padding on the left of each row; packets around the loops:
tests/hexagon_nn/packets.

Neurons that are not fused are a clamp, or a table of 256 codes, looked up by three workers at most.
In d32 a job is a slice of 32 channels; flat tensors have more jobs than workers. Source: Hexagon
NN, relu_kernel_h.S, op_tanh_d32.c; of Prelu, shared by all workers: prelu_d32.S.
"""

import math
from dataclasses import replace

from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels._blocking import (
    missing_bytes,
    per_vector_model,
    per_vector_stage,
    waiting_for_l2,
    without_prefetch,
)
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit, of_width, twice
from hexsim.hvx.layout import ceil_div, depth_slices, is_spatial
from hexsim.hvx.streams import Kernel, listed
from hexsim.layers import Elementwise, Neuron, Prelu
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage

_SHEET_PACKETS = 4
"""Packets of a row of a slice, with its share of the rows' loop (inferred from counted ones)."""
_JOB_PACKETS = 75
"""Packets of a job, with its part of the result's minimum and maximum (inferred as well)."""


def elementwise_streams(call: KernelCall[Elementwise], target: Target) -> tuple[Kernel, ...]:
    """Return the loop for a pair of operands."""
    if call.layer.kind == "div":
        return (listed("divide", target.machine),)
    name = "multiply" if call.layer.kind == "product" else "add"
    return (listed(of_width(name, call), target.machine),)


def elementwise_work(call: KernelCall[Elementwise], target: Target, traffic: Traffic) -> NodeWork:
    """Return one stage per pair of operands; the last one writes the result."""
    (kernel,) = elementwise_streams(call, target)
    steps = max(1, len(call.layer.inputs) - 1)
    stages = tuple(
        _stage(
            call, kernel, target, traffic.part(is_first=step == 0, is_last=step == steps - 1), step
        )
        for step in range(steps)
    )
    packets = steps * _join_packets(call, target) if call.layer.kind == "product" else 0
    work = NodeWork(stages, "kernel", nodes=steps, main_packets=packets)
    return twice(work) if is_16bit(call) and kernel.name == "divide" else work


def _join_packets(call: KernelCall[Elementwise], target: Target) -> int:
    """Return the packets of the main thread between the slices of a product."""
    batch, height, _, channels = as_nhwc(call.results[0])
    slices = batch * depth_slices(channels) if is_spatial(call.results[0]) else batch
    workers = target.workers_of(height)
    return (slices - 1) * (workers * target.hand_off_packets + target.wake_packets)


def _stage(
    call: KernelCall[Elementwise], kernel: Kernel, target: Target, traffic: Traffic, step: int
) -> Stage:
    """Return the loop over a pair of operands."""
    result = call.results[0]
    workers = target.workers_of(target.workers)
    stage = per_vector_stage(
        result,
        kernel.cost,
        workers,
        traffic,
        target,
        padded=True,
        sheet_packets=_SHEET_PACKETS,
        call_packets=_JOB_PACKETS,
    )
    pair = [shape for shape in call.operands[step : step + 2] if shape == result]
    stage = waiting_for_l2(stage, len(pair), target.load_slots)
    if call.layer.kind != "product" or len(pair) < 2 or target.prefetches_products:
        return replace(stage, streams=workers)
    missing = missing_bytes(pair, result, traffic.read_bytes, target.l2_bytes)
    return without_prefetch(stage, missing, target.product_workers)


_TABLE_WORKERS = 3
"""Workers that look up a table, at most (op_tanh_d32.c; documented)."""


def neuron_streams(call: KernelCall[Neuron], target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the function."""
    if call.layer.function != "clamp":
        return (listed("table", target.machine),)
    return (listed(of_width("clamp", call), target.machine),)


def neuron_work(call: KernelCall[Neuron], target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers."""
    (kernel,) = neuron_streams(call, target)
    workers = min(target.workers, _workers(call, kernel))
    stage = per_vector_stage(call.results[0], kernel.cost, workers, traffic, target, padded=True)
    neuron_work = NodeWork((replace(stage, streams=workers),), "kernel")
    return twice(neuron_work) if is_16bit(call) and kernel.name == "table" else neuron_work


def _workers(call: KernelCall[Neuron], kernel: Kernel) -> int:
    """Return the workers of a function: for a table, as many as share its slices evenly."""
    jobs = math.prod(call.results[0])
    if kernel.name == "table":
        if is_spatial(call.results[0]):
            batch, _, _, channels = as_nhwc(call.results[0])
            jobs = batch * depth_slices(channels)
        jobs = ceil_div(jobs, ceil_div(jobs, _TABLE_WORKERS))
    return max(1, jobs)


MODELS: Models = {
    Elementwise: KernelModel(elementwise_streams, elementwise_work, takes_16_bits=True),
    Neuron: KernelModel(neuron_streams, neuron_work, takes_16_bits=True),
    Prelu: per_vector_model(lambda _, target: listed("prelu", target.machine)),
}
