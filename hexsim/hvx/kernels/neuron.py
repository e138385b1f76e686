"""Neurons that no layer absorbed: a clamp is counted, tables of a code are estimated.

Source: Hexagon NN, relu_kernel_h.S.
"""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.layers import Neuron
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows over the workers."""
    assert isinstance(call.layer, Neuron)
    is_clamp = call.layer.function == "clamp"
    stage = per_vector_stage(
        call.results[0],
        counted.CLAMP if is_clamp else counted.TABLE,
        target.workers,
        traffic,
        target.l2_bytes,
    )
    return NodeWork((stage,), "kernel" if is_clamp else "generic")
