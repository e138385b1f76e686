"""Normalization: sums, a join, then the scaled codes; all workers share the rows (assumed).

If each statistic covers one pixel, both passes read the tensor once, because the pixel is still in
the cache. Otherwise the second pass reads the tensor again, from DDR if it came from there.
"""

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import is_16bit
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.normalization import scaled, scaled_by_channel, sums, wide_scaled, wide_sums
from hexsim.layers import Normalization
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall[Normalization], target: Target) -> tuple[Kernel, ...]:
    """Return both passes over one vector."""
    if is_16bit(call):
        return wide_sums(target.machine), wide_scaled(target.machine)
    scale = scaled_by_channel if _by_channel(call) else scaled
    return sums(target.machine), scale(target.machine)


def work(call: KernelCall[Normalization], target: Target, traffic: Traffic) -> NodeWork:
    """Return a stage for each pass."""
    shape, parameters = call.results[0], Traffic(call.parameter_bytes)
    again = 0 if _in_a_pixel(call) else traffic.read_bytes
    moved = (Traffic(traffic.read_bytes), Traffic(again, traffic.write_bytes) + parameters)
    stages = tuple(
        per_vector_stage(shape, kernel.cost, target.workers, part, target.l2_bytes)
        for kernel, part in zip(streams(call, target), moved, strict=True)
    )
    return NodeWork(stages, "kernel")


def _by_channel(call: KernelCall[Normalization]) -> bool:
    """Tell whether each statistic covers the pixels of one channel, as in an instance norm."""
    return len(call.operands[0]) - 1 not in call.layer.axes


def _in_a_pixel(call: KernelCall[Normalization]) -> bool:
    shape = call.operands[0]
    _, height, width, _ = as_nhwc(shape)
    return call.layer.axes == (len(shape) - 1,) or height * width == 1


MODELS: Models = {Normalization: KernelModel(streams, work, takes_16_bits=True)}
