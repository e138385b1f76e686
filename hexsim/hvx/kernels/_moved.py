"""Layers that only move codes inside d32: every vector of the result is written.

Whole vectors are copied. If positions inside vectors move, a vector of the result is assembled from
neighbouring vectors of the source, as many as the step covers (`movement.networks`).
Source of the copy: Hexagon NN, vmemcpy_2d_h.S. The number of threads is that of layout changes
(assumed).
"""

from collections.abc import Callable
from typing import Any

from hexsim.hvx.kernels._model import KernelModel
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.hvx.streams.movement import networks
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_THREADS = 2


def move_stream(target: Target, sources: int) -> Kernel:
    """Return the loop that copies one vector, or assembles it from several."""
    return elementwise.copy(target.machine) if sources == 1 else networks(target.machine, sources)


def move_work(call: KernelCall, target: Target, traffic: Traffic, sources: int) -> NodeWork:
    """Share the rows of the result among threads."""
    kernel = move_stream(target, sources)
    threads = min(_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel")


def move_model(sources: Callable[[KernelCall[Any]], int]) -> KernelModel:
    """Return the model of a layer that takes so many input vectors for one of the result."""
    return KernelModel(
        lambda call, target: (move_stream(target, sources(call)),),
        lambda call, target, traffic: move_work(call, target, traffic, sources(call)),
    )
