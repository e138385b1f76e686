"""Elementwise: the counted add, and an estimated loop for the other operations.

Operands beyond the second are combined one after another, each in a node of its own.
Source: Hexagon NN, quant_add_spec_h.S, op_add_d32.c.
"""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.layers import Elementwise
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One stage per pair of operands; the last one writes the result."""
    layer = call.layer
    assert isinstance(layer, Elementwise)
    steps = max(1, len(layer.inputs) - 1)
    counted_add = layer.kind == "sum"
    cost = counted.ADD if counted_add else counted.ELEMENTWISE
    stages = tuple(
        per_vector_stage(
            call.results[0],
            cost,
            target.workers,
            traffic.part(is_first=step == 0, is_last=step == steps - 1),
            target.l2_bytes,
        )
        for step in range(steps)
    )
    return NodeWork(stages, "kernel" if counted_add else "generic", nodes=steps)
