"""Gather at known positions: whole vectors copied, or runs moved in flat memory.

If each vector has only one position of the axis, whole vectors are copied. Otherwise a position is
one run of all inner axes; a vector of short runs may need all source vectors of the axis.
"""

from __future__ import annotations

import math

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._moved import move_stream, move_work
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_steps, flat_work
from hexsim.hvx.layout import ceil_div, vector_sizes
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.movement import VECTOR_BYTES, move_loop
from hexsim.layers import Gather
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


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
    source, axis = call.operands[0], _axis(call)
    run = math.prod(source[axis + 1 :])
    sources = ceil_div(source[axis] * run, VECTOR_BYTES) + 1
    move = move_loop(target.machine, run, sources)
    return flat_steps(call, target.machine, (call.results[0], move))


def _whole_vectors(call: KernelCall) -> bool:
    return _axis(call) not in vector_sizes(call.operands[0])


def _axis(call: KernelCall) -> int:
    assert isinstance(call.layer, Gather)
    return call.layer.axis


MODELS: Models = {Gather: KernelModel(streams, work)}
