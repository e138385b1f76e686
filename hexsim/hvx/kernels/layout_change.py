"""Reshape, permute and channel shuffle: out of d32, moved, and back into d32.

A reshape between tensors without spatial axes is a copy. Inside the flat form a reshape moves
nothing more; a permute gathers elements and a shuffle interleaves channels, both estimated.
Source: Hexagon NN, from_d32_h.S, to_d32_h.S, vmemcpy_2d_h.S.
"""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import as_nhwc
from hexsim.layers import Reshape
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork, Stage

_THREADS = 2


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One stage per conversion, and one for the move itself if it is not a reshape."""
    threads = min(_THREADS, target.workers)
    source, result = call.operands[0], call.results[0]
    read, write = Traffic(traffic.read_bytes, 0), Traffic(0, traffic.write_bytes)
    is_reshape = isinstance(call.layer, Reshape)
    stages: list[Stage] = []
    if _is_spatial(source):
        stages.append(per_vector_stage(source, counted.FROM_D32, threads, read, target.l2_bytes))
    if not is_reshape:
        cost = counted.ELEMENTWISE
        stages.append(per_vector_stage(result, cost, threads, Traffic(), target.l2_bytes))
    if _is_spatial(result):
        stages.append(per_vector_stage(result, counted.TO_D32, threads, write, target.l2_bytes))
    if not stages:
        stages.append(per_vector_stage(result, counted.COPY, threads, traffic, target.l2_bytes))
    return NodeWork(tuple(stages), "kernel" if is_reshape else "generic", nodes=len(stages))


def _is_spatial(shape: Shape) -> bool:
    _, height, width, _ = as_nhwc(shape)
    return height * width > 1
