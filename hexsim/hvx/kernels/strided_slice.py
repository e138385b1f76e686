"""Strided slice: vectors of the part are copied if it begins at a whole vector.

Otherwise a vector of the result is assembled from two neighbours of the input or, if positions
inside vectors are skipped, from as many as the step.
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
    """Return a copy, or a move."""
    return (move_stream(target, _sources(call)),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows of the result among the threads."""
    return move_work(call, target, traffic, _sources(call))


def _sources(call: KernelCall) -> int:
    """Return the number of input vectors for one vector of the result."""
    layer, inside = call.layer, vector_sizes(call.operands[0])
    assert isinstance(layer, StridedSlice)
    sources = 1
    for part in layer.parts:
        if part.axis in inside and (part.step > 1 or part.start % inside[part.axis]):
            sources *= max(2, part.step)
    return sources


MODELS: Models = {StridedSlice: KernelModel(streams, work)}
