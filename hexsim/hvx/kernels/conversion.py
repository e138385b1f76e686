"""Conversions at the edges of a DSP subnet: flat codes to d32 and back."""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._wide import twice_stage
from hexsim.hvx.layout import as_nhwc, stored_bytes
from hexsim.hvx.streams import layout_change
from hexsim.memory import Traffic
from hexsim.work import Stage

_THREADS = 2


def to_d32(shape: Shape, target: Target, bits: int = 8) -> Stage | None:
    """Bring flat codes into d32; None where the first-layer kernel takes flat codes itself."""
    _, height, width, channels = as_nhwc(shape)
    if height * width == 1 or channels <= 4:
        return None
    threads = min(_THREADS, target.workers)
    traffic = Traffic(0, _misses(shape, target, bits))
    cost = layout_change.to_d32(target.machine).cost
    stage = per_vector_stage(shape, cost, threads, traffic, target.l2_bytes)
    return stage if bits == 8 else twice_stage(stage)


def from_d32(shape: Shape, target: Target, bits: int = 8) -> Stage | None:
    """Take codes of `bits` bits out of d32; None for a tensor without spatial axes."""
    _, height, width, _ = as_nhwc(shape)
    if height * width == 1:
        return None
    threads = min(_THREADS, target.workers)
    traffic = Traffic(_misses(shape, target, bits), 0)
    cost = layout_change.from_d32(target.machine).cost
    stage = per_vector_stage(shape, cost, threads, traffic, target.l2_bytes)
    return stage if bits == 8 else twice_stage(stage)


def _misses(shape: Shape, target: Target, bits: int) -> int:
    """Bytes of the d32 form that do not stay in L2."""
    size = stored_bytes(shape) * bits // 8
    return size if size > target.activation_l2_bytes else 0
