"""Pad: vectors of the result are copied or constant if the input begins at a whole vector.

Otherwise a vector of the result is assembled from two neighbours of the input. So it is if the
input is repeated along an axis of which a vector has several positions.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._moved import move_stream, move_work
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams import Kernel
from hexsim.layers import Pad
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
    layer = call.layer
    assert isinstance(layer, Pad)
    inside = vector_sizes(call.results[0])
    if layer.mode != "constant":
        return 2 if any(layer.begins[axis] or layer.ends[axis] for axis in inside) else 1
    return 1 if all(layer.begins[axis] % size == 0 for axis, size in inside.items()) else 2


MODELS: Models = {Pad: KernelModel(streams, work)}
