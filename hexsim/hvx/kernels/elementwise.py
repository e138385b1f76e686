"""Elementwise: one loop for sums, one for products and one for quotients.

A difference is a sum with a negative scale; maximum and minimum replace the addition. A
quotient of 16-bit codes, for whose reciprocals there is no table, costs twice that of 8 bits.

Operands beyond the second are combined one after another, each in its own node.
Source: Hexagon NN, quant_add_spec_h.S, op_add_d32.c, which compute the padding on the left of each
row; packets around the loops: tests/hexagon_nn/packets.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import is_16bit, twice
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise, halfwords
from hexsim.layers import Elementwise
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_SHEET_PACKETS = 4
"""Addresses and loop of a row of one sheet, and its share of the rows' own loop."""
_JOB_PACKETS = 75
"""Entry and exit of a job, with its part of the minimum and maximum of the result."""


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop for a pair of operands."""
    assert isinstance(call.layer, Elementwise)
    if call.layer.kind == "div":
        return (elementwise.divide(target.machine),)
    loops = halfwords if is_16bit(call) else elementwise
    is_product = call.layer.kind == "product"
    return ((loops.multiply if is_product else loops.add)(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return one stage per pair of operands; the last one writes the result."""
    (kernel,) = streams(call, target)
    steps = max(1, len(call.layer.inputs) - 1)
    stages = tuple(
        per_vector_stage(
            call.results[0],
            kernel.cost,
            target.workers,
            traffic.part(is_first=step == 0, is_last=step == steps - 1),
            target.l2_bytes,
            padded=True,
            sheet_packets=_SHEET_PACKETS,
            call_packets=_JOB_PACKETS,
        )
        for step in range(steps)
    )
    work = NodeWork(stages, "kernel", nodes=steps)
    return twice(work) if is_16bit(call) and kernel.name == "divide" else work


MODELS: Models = {Elementwise: KernelModel(streams, work, takes_16_bits=True)}
