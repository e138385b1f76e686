"""Layers that only move codes: every vector of the result is written, copied or put together.

Where elements move between vectors of d32, a table lookup per vector of the result stands in for
what moves them, and the cost is generic.
Source of the copy: Hexagon NN, vmemcpy_2d_h.S. The number of threads is that of layout changes
(assumed).
"""

from __future__ import annotations

from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_THREADS = 2


def move_stream(target: Target, *, whole_vectors: bool) -> Kernel:
    """A copy, or what stands for moving elements."""
    stream = elementwise.copy if whole_vectors else elementwise.table
    return stream(target.machine)


def move_work(
    call: KernelCall, target: Target, traffic: Traffic, *, whole_vectors: bool
) -> NodeWork:
    """Rows of the result."""
    kernel = move_stream(target, whole_vectors=whole_vectors)
    threads = min(_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel" if whole_vectors else "generic")
