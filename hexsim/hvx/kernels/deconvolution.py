"""Deconvolution: a convolution of all phases, then their pixels woven together.

Channels of each phase begin a sheet of their own, so that weaving moves whole pixels. It works on
rows that have just been made, so they are not moved through DDR in between. Grouped ones are
slices, convolutions and a concat before that, as a grouped convolution is.

Steps above four along a row have no loop that weaves them: a table lookup per vector of the result
stands in, and the cost is generic. SNPE's documentation calls such strides slow, without a figure.
How Hexagon NN does any of this is not in its published kernels; that it reduces deconvolutions to
convolutions is assumed.
"""

from __future__ import annotations

import math
from dataclasses import replace

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import any_convolution, grouped_convolution
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._sixteen_bit import is_16bit, twice_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels.convolution import (
    Blocking,
    DenseShape,
    cost_model,
    dense_stage,
    dense_streams,
)
from hexsim.hvx.layout import PIXELS, SHEET, ceil_div, row_vectors, sheets
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.hvx.streams.weave import MOST, weave_pixels
from hexsim.layers import Convolution, Deconvolution
from hexsim.planning.deconvolution_phases import in_phases
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """The loops of the convolution, then the weaving."""
    if _layer(call).groups > 1:
        return (*grouped_convolution.streams(in_phases(call), target), *_weaving(call, target))
    return (*dense_streams(_dense_shape(call), target), *_weaving(call, target))


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Blocks of the convolution, then rows of the result."""
    weaving = _weaving(call, target)
    reading = replace(traffic, write_bytes=0) if weaving else traffic
    if _layer(call).groups > 1:
        made = grouped_convolution.work(in_phases(call), target, reading)
        made = replace(made, cost_model="generic")
    else:
        shape = _dense_shape(call)
        made = NodeWork((dense_stage(shape, target, reading),), cost_model(shape, target))
    woven = tuple(_woven(call, kernel, target, traffic) for kernel in weaving)
    made = made if _has_loop(call) else replace(made, cost_model="generic")
    return replace(made, stages=(*made.stages, *woven), nodes=made.nodes + len(woven))


def weight_bytes(call: KernelCall, target: Target) -> int:
    """Those of the convolution."""
    if _layer(call).groups > 1:
        inner = in_phases(call)
        return any_convolution.form(inner).weight_bytes(inner, target)
    return Blocking(_dense_shape(call), target).weight_bytes


def packed_bytes(call: KernelCall, target: Target) -> int:
    """Those of the convolution, with the zeros that fill its phases."""
    if _layer(call).groups > 1:
        inner = in_phases(call)
        return any_convolution.form(inner).packed_bytes(inner, target)
    return Blocking(_dense_shape(call), target).packed_bytes


def vtcm_bytes(call: KernelCall, target: Target) -> int:
    """Those of the convolution."""
    if _layer(call).groups > 1:
        inner = in_phases(call)
        return any_convolution.form(inner).vtcm_bytes(inner, target)
    return Blocking(_dense_shape(call), target).vtcm_bytes


def _has_loop(call: KernelCall) -> bool:
    """False for steps along a row that no loop weaves."""
    return _layer(call).window.strides[1] <= MOST


def _dense_shape(call: KernelCall) -> DenseShape:
    """Shape of the convolution of all phases, the channels of each filled up to whole sheets."""
    inner = in_phases(call)
    assert isinstance(inner.layer, Convolution)
    layer = _layer(call)
    filled = math.prod(layer.window.strides) * sheets(layer.output_channels) * SHEET
    return replace(DenseShape.of(inner, inner.layer), channels=filled)


def _layer(call: KernelCall) -> Deconvolution:
    assert isinstance(call.layer, Deconvolution)
    return call.layer


def _weaving(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """What puts pixels of a row in turn; rows alone are copied; nothing for a stride of one."""
    down, right = _layer(call).window.strides
    if right > MOST:
        return (elementwise.table(target.machine),)
    if right > 1:
        return (weave_pixels(target.machine, right),)
    return (elementwise.copy(target.machine),) if down > 1 else ()


def _woven(call: KernelCall, kernel: Kernel, target: Target, traffic: Traffic) -> Stage:
    batch, height, width, channels = as_nhwc(call.results[0])
    tiles = sheets(channels) * ceil_div(row_vectors(width) * PIXELS, kernel.cost.pixels)
    row = RowCost.of(kernel.cost, tiles, sheets(channels))
    written = traffic.part(is_first=False, is_last=True)
    stage = row_stage(batch * height, row, target.workers, written, target.l2_bytes)
    return twice_stage(stage) if is_16bit(call) else stage


MODELS: Models = {
    Deconvolution: KernelModel(
        streams, work, weight_bytes, packed_bytes, vtcm_bytes, takes_16_bits=True
    )
}
