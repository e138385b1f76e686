"""Strided slice: the vectors of the part are copied, whole ones if it begins at one."""

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
    """A copy, or what stands for moving elements."""
    return (move_stream(target, whole_vectors=_whole_vectors(call)),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows of the result."""
    return move_work(call, target, traffic, whole_vectors=_whole_vectors(call))


def _whole_vectors(call: KernelCall) -> bool:
    """True if the part begins at the first byte of a vector and skips none inside it."""
    layer, inside = call.layer, vector_sizes(call.operands[0])
    assert isinstance(layer, StridedSlice)
    return all(
        part.step == 1 and part.start % inside[part.axis] == 0
        for part in layer.parts
        if part.axis in inside
    )


MODELS: Models = {StridedSlice: KernelModel(streams, work)}
