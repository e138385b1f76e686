"""Pad: every vector of the result is written, its codes copied or constant.

Where the input begins in the middle of a vector of d32, its elements move between vectors; for
that a table lookup per vector of the result stands in, and the cost is generic.
Source of the copy: Hexagon NN, vmemcpy_2d_h.S. The number of threads is that of layout changes
(assumed).
"""

from __future__ import annotations

from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.layers import Pad
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork

_THREADS = 2


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """A copy, or what stands for moving elements."""
    if _whole_vectors(call):
        return (elementwise.copy(target.machine),)
    return (elementwise.table(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows of the result."""
    (kernel,) = streams(call, target)
    threads = min(_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel" if _whole_vectors(call) else "generic")


def _whole_vectors(call: KernelCall) -> bool:
    """True if the input begins at the first byte of a vector of the result."""
    layer = call.layer
    assert isinstance(layer, Pad)
    inside = vector_sizes(call.results[0])
    return all(layer.begins[axis] % size == 0 for axis, size in inside.items())
