"""Layers that move elements in flat memory, with conversions from d32 and back.

Tensors without spatial axes are flat already. The number of threads is that of layout changes
(assumed). Source of the conversions: Hexagon NN, from_d32_h.S, to_d32_h.S.
"""

import math
from collections.abc import Callable
from typing import Any

from hexsim.graph.ir import Shape
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels._model import KernelModel
from hexsim.hvx.kernels._moved import move_stream, move_work
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import ceil_div, is_spatial
from hexsim.hvx.streams import Kernel, layout_change
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

THREADS = 2
_ROWS = 8
"""Parts in which threads share flat memory."""

FlatStep = tuple[Shape, Kernel]
"""A shape, and the loop over its vectors."""


def flat_steps(call: KernelCall, machine: HvxMachine, move: FlatStep | None) -> list[FlatStep]:
    """Return `move` and the changes of layout around it; the list may be empty.

    The move works on flat memory: its shape is divided in rows of bytes without padding.
    """
    source, result = call.operands[0], call.results[0]
    steps: list[FlatStep] = []
    if is_spatial(source):
        steps.append((source, layout_change.from_d32(machine)))
    if move is not None:
        shape, kernel = move
        steps.append(((_ROWS, 1, 1, ceil_div(math.prod(shape), _ROWS)), kernel))
    if is_spatial(result):
        steps.append((result, layout_change.to_d32(machine)))
    return steps


def flat_work(steps: list[FlatStep], target: Target, traffic: Traffic) -> NodeWork:
    """Return a node with a stage for each step; each counts as one graph node."""
    threads = min(THREADS, target.workers)
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
    return NodeWork(stages, "kernel", nodes=len(stages))


def flat_model(
    steps: Callable[[KernelCall[Any], Target], list[FlatStep]],
    whole_vectors: Callable[[KernelCall[Any]], bool] = lambda _: False,
) -> KernelModel:
    """Return the model of a layer that has these steps, or copies `whole_vectors`."""

    def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
        if whole_vectors(call):
            return (move_stream(target, 1),)
        return tuple(kernel for _, kernel in steps(call, target))

    def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
        if whole_vectors(call):
            return move_work(call, target, traffic, 1)
        return flat_work(steps(call, target), target, traffic)

    return KernelModel(streams, work)
