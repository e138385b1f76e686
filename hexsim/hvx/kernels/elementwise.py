"""Elementwise: one loop for sums, one for products and one for quotients.

A difference is a sum with a negative scale; maximum and minimum replace the addition. A
quotient of 16-bit codes, for whose reciprocals there is no table, costs twice that of 8 bits.

Operands beyond the second are combined one after another, each in its own node.
The loops are in C and use an operand in the statement after its load, so they wait for it. Products
of two tensors that are not prefetched take one worker (`hexsim.hvx.kernels._waiting`).
Source: Hexagon NN, quant_add_spec_h.S, op_add_d32.c, op_mul_d32.c; the loops compute the padding on
the left of each row; packets around the loops: tests/hexagon_nn/packets.
"""

from dataclasses import replace

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import is_16bit, twice
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._waiting import missing_bytes, waiting_for_l2, without_prefetch
from hexsim.hvx.streams import Kernel, elementwise, halfwords
from hexsim.layers import Elementwise
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage

_SHEET_PACKETS = 4
"""Addresses and loop of a row of one slice, and its share of the rows' own loop."""
_JOB_PACKETS = 75
"""Entry and exit of a job, with its part of the minimum and maximum of the result."""


def streams(call: KernelCall[Elementwise], target: Target) -> tuple[Kernel, ...]:
    """Return the loop for a pair of operands."""
    if call.layer.kind == "div":
        return (elementwise.divide(target.machine),)
    loops = halfwords if is_16bit(call) else elementwise
    is_product = call.layer.kind == "product"
    return ((loops.multiply if is_product else loops.add)(target.machine),)


def work(call: KernelCall[Elementwise], target: Target, traffic: Traffic) -> NodeWork:
    """Return one stage per pair of operands; the last one writes the result."""
    (kernel,) = streams(call, target)
    steps = max(1, len(call.layer.inputs) - 1)
    stages = tuple(
        _stage(
            call, kernel, target, traffic.part(is_first=step == 0, is_last=step == steps - 1), step
        )
        for step in range(steps)
    )
    work = NodeWork(stages, "kernel", nodes=steps)
    return twice(work) if is_16bit(call) and kernel.name == "divide" else work


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
        target.l2_bytes,
        padded=True,
        sheet_packets=_SHEET_PACKETS,
        call_packets=_JOB_PACKETS,
    )
    pair = [shape for shape in call.operands[step : step + 2] if shape == result]
    stage = waiting_for_l2(stage, len(pair), target.load_slots)
    if call.layer.kind != "product" or len(pair) < 2 or target.prefetches_products:
        return replace(stage, streams=workers)
    return without_prefetch(stage, missing_bytes(pair, result, traffic.read_bytes, target.l2_bytes))


MODELS: Models = {Elementwise: KernelModel(streams, work, takes_16_bits=True)}
