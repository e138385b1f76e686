"""Tile: whole vectors are copied if repeats leave them whole, otherwise runs in flat memory.

The innermost repeated part is one run in the source. A vector of shorter runs needs at most two
vectors of the source, because runs that are neighbours in the result are neighbours there.
"""

from __future__ import annotations

import math

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._moved import move_stream, move_work
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_steps, flat_work
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.movement import move_loop
from hexsim.layers import Tile
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_SOURCES = 2


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return a copy, or a move with its conversions."""
    if _whole_vectors(call):
        return (move_stream(target, 1),)
    return tuple(kernel for _, kernel in _steps(call, target))


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return a copy of vectors, or a move with its conversions."""
    if _whole_vectors(call):
        return move_work(call, target, traffic, 1)
    return flat_work(_steps(call, target), target, traffic)


def _steps(call: KernelCall, target: Target) -> list[FlatStep]:
    repeats, source = _repeats(call), call.operands[0]
    innermost = max((axis for axis, times in enumerate(repeats) if times > 1), default=0)
    run = math.prod(source[innermost:])
    move = move_loop(target.machine, run, _SOURCES)
    return flat_steps(call, target.machine, (call.results[0], move))


def _whole_vectors(call: KernelCall) -> bool:
    """Tell whether repeats inside vectors are by whole vectors."""
    repeats, source, inside = _repeats(call), call.operands[0], vector_sizes(call.operands[0])
    if not source or inside != vector_sizes(call.results[0]):
        return False
    return all(repeats[axis] == 1 or source[axis] % size == 0 for axis, size in inside.items())


def _repeats(call: KernelCall) -> tuple[int, ...]:
    assert isinstance(call.layer, Tile)
    return call.layer.repeats


MODELS: Models = {Tile: KernelModel(streams, work)}
