"""Strided slice: the vectors of the part are copied, whole ones if it begins at one.

Else a vector of the result is out of two neighbours of the input, or, where positions inside
vectors are skipped, out of as many as a step passes over.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._moved import move_stream, move_work
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams import Kernel
from hexsim.layers import StridedSlice
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """A copy, or a move."""
    return (move_stream(target, _sources(call)),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows of the result."""
    return move_work(call, target, traffic, _sources(call))


def _sources(call: KernelCall) -> int:
    """How many vectors of the input make one of the result."""
    layer, inside = call.layer, vector_sizes(call.operands[0])
    assert isinstance(layer, StridedSlice)
    sources = 1
    for part in layer.parts:
        if part.axis in inside and (part.step > 1 or part.start % inside[part.axis]):
            sources *= max(2, part.step)
    return sources


MODELS: Models = {StridedSlice: KernelModel(streams, work)}
