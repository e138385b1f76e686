"""Reshape, permute and channel shuffle: out of d32, moved, and back into d32.

A reshape between tensors without spatial axes is a copy. Inside the flat form a reshape moves
nothing more; a permute gathers elements and a shuffle interleaves channels, both estimated.
Source: Hexagon NN, from_d32_h.S, to_d32_h.S, vmemcpy_2d_h.S.
"""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._counted import LoopCost
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import as_nhwc
from hexsim.layers import Reshape
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork

_THREADS = 2


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One stage per conversion, and one for the move itself if it is not a reshape."""
    source, result = call.operands[0], call.results[0]
    is_reshape = isinstance(call.layer, Reshape)
    steps: list[tuple[Shape, LoopCost]] = []
    if _is_spatial(source):
        steps.append((source, counted.FROM_D32))
    if not is_reshape:
        steps.append((result, counted.ELEMENTWISE))
    if _is_spatial(result):
        steps.append((result, counted.TO_D32))
    if not steps:
        steps.append((result, counted.COPY))
    threads = min(_THREADS, target.workers)
    last = len(steps) - 1
    stages = tuple(
        per_vector_stage(
            shape,
            cost,
            threads,
            traffic.part(is_first=number == 0, is_last=number == last),
            target.l2_bytes,
        )
        for number, (shape, cost) in enumerate(steps)
    )
    return NodeWork(stages, "kernel" if is_reshape else "generic", nodes=len(stages))


def _is_spatial(shape: Shape) -> bool:
    _, height, width, _ = as_nhwc(shape)
    return height * width > 1
