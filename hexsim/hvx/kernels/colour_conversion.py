"""Colour conversion of a flat picture, row by row.

Hexagon NN has no such kernel to compare with. The picture stays flat, three
bytes per pixel, as the first-layer kernel of a convolution reads it.
"""

from hexsim.hvx.kernels._blocking import NO_WORK, loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import ceil_div
from hexsim.hvx.streams import Kernel, colours
from hexsim.layers import ColourConversion
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall[ColourConversion], target: Target) -> tuple[Kernel, ...]:
    """Return a permutation of bytes, or the matrix of NV21 and the interleaving of its colours."""
    machine = target.machine
    if call.layer.channels is None:
        return colours.nv21_colours(machine), colours.weave(machine)
    return (colours.pick_channels(machine, call.operands[0][-1]),)


def work(call: KernelCall[ColourConversion], target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows of the picture among the workers; each row passes all streams."""
    batch, height, width, _ = call.results[0]
    costs = [kernel.cost for kernel in streams(call, target)]
    row = NO_WORK
    for cost in costs:
        row += loop_work(cost, ceil_div(width, cost.pixels), 1)
    stage = row_stage(batch * height, row, target.workers, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel")


MODELS: Models = {ColourConversion: KernelModel(streams, work)}
