"""Pad: the vectors of the result are copied or constant, whole ones if the input begins one.

What repeats the input along an axis of which a vector holds several positions turns these round or
spreads them: that is moving elements.
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
    """A copy, or what stands for moving elements."""
    return (move_stream(target, whole_vectors=_whole_vectors(call)),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows of the result."""
    return move_work(call, target, traffic, whole_vectors=_whole_vectors(call))


def _whole_vectors(call: KernelCall) -> bool:
    """True if the input begins at the first byte of a vector of the result, and stays as it is."""
    layer = call.layer
    assert isinstance(layer, Pad)
    inside = vector_sizes(call.results[0])
    if layer.mode != "constant":
        return not any(layer.begins[axis] or layer.ends[axis] for axis in inside)
    return all(layer.begins[axis] % size == 0 for axis, size in inside.items())


MODELS: Models = {Pad: KernelModel(streams, work)}
