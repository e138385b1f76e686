"""Conversions at the edges of a DSP subnet: flat codes to d32 and back."""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._wide import twice_stage
from hexsim.hvx.layout import PIXELS
from hexsim.hvx.streams import layout_change
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Stage

_THREADS = 2


def taken_flat(shape: Shape) -> bool:
    """True for inputs that stay flat: without spatial axes, and images of up to 4 channels."""
    _, height, width, channels = as_nhwc(shape)
    return height * width == 1 or channels <= PIXELS


def to_d32(shape: Shape, target: Target, traffic: Traffic, bits: int = 8) -> Stage | None:
    """Bring flat codes of `bits` bits into d32; None for an input that is taken flat."""
    if taken_flat(shape):
        return None
    threads = min(_THREADS, target.workers)
    cost = layout_change.to_d32(target.machine).cost
    stage = per_vector_stage(shape, cost, threads, traffic, target.l2_bytes)
    return stage if bits == 8 else twice_stage(stage)


def from_d32(shape: Shape, target: Target, traffic: Traffic, bits: int = 8) -> Stage | None:
    """Take codes of `bits` bits out of d32; None for a tensor without spatial axes."""
    _, height, width, _ = as_nhwc(shape)
    if height * width == 1:
        return None
    threads = min(_THREADS, target.workers)
    cost = layout_change.from_d32(target.machine).cost
    stage = per_vector_stage(shape, cost, threads, traffic, target.l2_bytes)
    return stage if bits == 8 else twice_stage(stage)
