"""Resize: a loop for twice the size, and generic costs for other sizes.

SNPE's documentation calls only these fast: twice the size, and a depth of at least a vector or,
with the width, a power of two. For others nearest costs as much as moving elements,
bilinear as much as averaging four taps, both reported as generic.

Source: Hexagon NN, resizebilinear_d32_h.S (two threads at most); it has no loops with pixel centres
and of nearest pixels.
"""

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import VECTOR_BYTES
from hexsim.hvx.streams import Kernel, elementwise, pooling, resize
from hexsim.layers import Resize
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_THREADS = 2
_TAPS = 4


def streams(call: KernelCall[Resize], target: Target) -> tuple[Kernel, ...]:
    """Return the loop for twice the size, or one with the cost of other sizes."""
    return (_by_two(call, target) or _any(call, target),)


def work(call: KernelCall[Resize], target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows of the result among the threads."""
    (kernel,) = streams(call, target)
    threads = min(_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel" if _by_two(call, target) else "generic")


def _by_two(call: KernelCall[Resize], target: Target) -> Kernel | None:
    layer = call.layer
    _, height, width, channels = call.operands[0]
    powers = not (channels & (channels - 1) or width & (width - 1))
    if layer.scales_of(height, width) != (2, 2) or (channels < VECTOR_BYTES and not powers):
        return None
    centred = layer.coordinates in ("half_pixel", "pytorch_half_pixel")
    if layer.kind == "nearest":
        return resize.nearest_by_two(target.machine)
    if centred:
        return resize.bilinear_by_two_centred(target.machine)
    return resize.bilinear_by_two(target.machine) if layer.coordinates == "asymmetric" else None


def _any(call: KernelCall[Resize], target: Target) -> Kernel:
    if call.layer.kind == "nearest":
        return elementwise.table(target.machine)
    return pooling.average_any(target.machine, _TAPS)


MODELS: Models = {Resize: KernelModel(streams, work)}
