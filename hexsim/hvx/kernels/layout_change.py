"""Reshape, permute and channel shuffle: out of d32, moved, and back into d32.

A reshape between tensors without spatial axes is a copy. Inside the flat form a reshape moves
nothing more; a permute gathers elements and a shuffle interleaves channels: for both a table
lookup per vector stands in, so their cost is generic.
Source: Hexagon NN, from_d32_h.S, to_d32_h.S, vmemcpy_2d_h.S.
"""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise, layout_change
from hexsim.layers import ChannelShuffle, Permute, Reshape
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_THREADS = 2


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """What the steps run."""
    return tuple(kernel for _, kernel in _steps(call, target))


def _steps(call: KernelCall, target: Target) -> list[tuple[Shape, Kernel]]:
    """Shape and loop of each step."""
    source, result, machine = call.operands[0], call.results[0], target.machine
    steps: list[tuple[Shape, Kernel]] = []
    if _is_spatial(source):
        steps.append((source, layout_change.from_d32(machine)))
    if not isinstance(call.layer, Reshape):
        steps.append((result, elementwise.table(machine)))
    if _is_spatial(result):
        steps.append((result, layout_change.to_d32(machine)))
    return steps or [(result, elementwise.copy(machine))]


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One stage per conversion, and one for the move itself if it is not a reshape."""
    steps = _steps(call, target)
    is_reshape = isinstance(call.layer, Reshape)
    threads = min(_THREADS, target.workers)
    last = len(steps) - 1
    stages = tuple(
        per_vector_stage(
            shape,
            kernel.cost,
            threads,
            traffic.part(is_first=number == 0, is_last=number == last),
            target.l2_bytes,
        )
        for number, (shape, kernel) in enumerate(steps)
    )
    return NodeWork(stages, "kernel" if is_reshape else "generic", nodes=len(stages))


def _is_spatial(shape: Shape) -> bool:
    _, height, width, _ = as_nhwc(shape)
    return height * width > 1


MODELS: Models = dict.fromkeys((ChannelShuffle, Permute, Reshape), KernelModel(streams, work))
