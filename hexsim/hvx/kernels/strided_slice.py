"""Strided slice: the vectors of the part are copied.

Where the part begins in the middle of a vector of d32 (four pixels of 32 channels), or skips
positions inside one, elements move between vectors; for that a table lookup per vector of the
result stands in, and the cost is generic.
Source of the copy: Hexagon NN, vmemcpy_2d_h.S. The number of threads is that of layout changes
(assumed).
"""

from __future__ import annotations

from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.layers import StridedSlice
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
    """True if the part begins at the first byte of a vector and skips none inside it."""
    layer, inside = call.layer, vector_sizes(call.operands[0])
    assert isinstance(layer, StridedSlice)
    return all(
        part.step == 1 and part.start % inside[part.axis] == 0
        for part in layer.parts
        if part.axis in inside
    )
