"""Deconvolution: a convolution of all phases, whose pixels are then interleaved.

The channels of each phase begin a new slice, so that interleaving moves whole pixels. It works on
rows that have just been computed, so they do not pass DDR in between. A grouped deconvolution is
slices, convolutions and a concat before that, like a grouped convolution.

There is no loop that interleaves strides above four along a row: a table lookup per vector of the
result is used instead, and the cost is generic. SNPE's documentation calls such strides slow,
without a figure. The published kernels of Hexagon NN do none of this; that it reduces
deconvolutions to convolutions is assumed.
"""

import math
from dataclasses import replace

from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels import any_convolution
from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit, twice_stage
from hexsim.hvx.kernels.convolution import DenseShape, cost_model, dense_stage, dense_streams
from hexsim.hvx.layout import DEPTH_SLICE, PIXELS, ceil_div, depth_slices, row_vectors
from hexsim.hvx.streams import Kernel, listed
from hexsim.hvx.streams.movement import MOST, weave_pixels
from hexsim.layers import Convolution, Deconvolution
from hexsim.planning.kernel_forms import in_phases
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage


def streams(call: KernelCall[Deconvolution], target: Target) -> tuple[Kernel, ...]:
    """Return the loops of the convolution, then the interleaving."""
    if call.layer.groups > 1:
        return (*any_convolution.streams(in_phases(call), target), *_weaving(call, target))
    return (*dense_streams(_dense_shape(call), target), *_weaving(call, target))


def work(call: KernelCall[Deconvolution], target: Target, traffic: Traffic) -> NodeWork:
    """Return the work of the convolution, then that of interleaving rows of the result."""
    weaving = _weaving(call, target)
    reading = replace(traffic, write_bytes=0) if weaving else traffic
    if call.layer.groups > 1:
        convolution = any_convolution.work(in_phases(call), target, reading)
        convolution = replace(convolution, cost_model="generic")
    else:
        shape = _dense_shape(call)
        convolution = NodeWork((dense_stage(shape, target, reading),), cost_model(shape, target))
    interleaving = tuple(_woven(call, kernel, target, traffic) for kernel in weaving)
    convolution = convolution if _has_loop(call) else replace(convolution, cost_model="generic")
    return replace(
        convolution,
        stages=(*convolution.stages, *interleaving),
        nodes=convolution.nodes + len(interleaving),
    )


def _has_loop(call: KernelCall[Deconvolution]) -> bool:
    """Tell whether there is a loop that interleaves the stride along a row."""
    return call.layer.window.strides[1] <= MOST


def _convolution(call: KernelCall[Deconvolution]) -> KernelCall[Convolution]:
    """Return the convolution of all phases; without groups, each has its channels padded to whole
    slices."""
    inner, layer = in_phases(call), call.layer
    if layer.groups > 1:
        return inner
    filled = math.prod(layer.window.strides) * depth_slices(layer.output_channels) * DEPTH_SLICE
    return replace(inner, results=((*inner.results[0][:-1], filled),))


def _dense_shape(call: KernelCall[Deconvolution]) -> DenseShape:
    inner = _convolution(call)
    return DenseShape.of(inner, inner.layer)


def _weaving(call: KernelCall[Deconvolution], target: Target) -> tuple[Kernel, ...]:
    """Return the loop that interleaves pixels of a row, or copies rows; none for stride 1."""
    down, right = call.layer.window.strides
    if right > MOST:
        return (listed("table", target.machine),)
    if right > 1:
        return (weave_pixels(target.machine, right),)
    return (listed("copy", target.machine),) if down > 1 else ()


def _woven(call: KernelCall, kernel: Kernel, target: Target, traffic: Traffic) -> Stage:
    batch, height, width, channels = as_nhwc(call.results[0])
    tiles = depth_slices(channels) * ceil_div(row_vectors(width) * PIXELS, kernel.cost.pixels)
    row = loop_work(kernel.cost, tiles, depth_slices(channels))
    written = traffic.part(is_first=False, is_last=True)
    stage = row_stage(batch * height, row, target.workers, written, target)
    return twice_stage(stage) if is_16bit(call) else stage


_INNER = any_convolution.MODELS[Convolution]
MODELS: Models = {
    Deconvolution: KernelModel(
        streams,
        work,
        lambda call, target: _INNER.memory(_convolution(call), target),
        takes_16_bits=True,
    )
}
