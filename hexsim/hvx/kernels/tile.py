"""Tile: whole vectors copied where repeats leave them whole, else runs moved in flat memory.

What is repeated innermost is one run in the source. A vector of shorter runs is out of two vectors
of the source at most, because the runs that follow each other in the result do so there.
"""

from __future__ import annotations

import math

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._moved import move_stream, move_work
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_steps, flat_work
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.movement import moved
from hexsim.layers import Tile
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_SOURCES = 2


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """A copy, or the steps around a move."""
    if _whole_vectors(call):
        return (move_stream(target, 1),)
    return tuple(kernel for _, kernel in _steps(call, target))


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows of the result."""
    if _whole_vectors(call):
        return move_work(call, target, traffic, 1)
    return flat_work(_steps(call, target), target, traffic)


def _steps(call: KernelCall, target: Target) -> list[FlatStep]:
    repeats, source = _repeats(call), call.operands[0]
    innermost = max((axis for axis, times in enumerate(repeats) if times > 1), default=0)
    run = math.prod(source[innermost:])
    move = moved(target.machine, run, _SOURCES)
    return flat_steps(call, target.machine, (call.results[0], move))


def _whole_vectors(call: KernelCall) -> bool:
    """True if an axis of which a vector holds several positions is repeated by whole vectors."""
    repeats, source, inside = _repeats(call), call.operands[0], vector_sizes(call.operands[0])
    if not source or inside != vector_sizes(call.results[0]):
        return False
    return all(repeats[axis] == 1 or source[axis] % size == 0 for axis, size in inside.items())


def _repeats(call: KernelCall) -> tuple[int, ...]:
    assert isinstance(call.layer, Tile)
    return call.layer.repeats


MODELS: Models = {Tile: KernelModel(streams, work)}
