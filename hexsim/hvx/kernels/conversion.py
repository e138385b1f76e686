"""Conversions between flat codes and d32, around DSP subnets and before first-layer kernels.

Images of few channels are converted pixel by pixel in scalar code. The public version of Hexagon NN
has vector loops for them, but two rows of measured_latency.csv (sd865, 1x1 convolutions of
one channel over 256x256 and 1024x1024 pixels) are too slow for these, so the scalar loop is
inferred from them.
"""

from __future__ import annotations

from collections.abc import Callable

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import twice_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import SHEET, has_few_channels, is_spatial, row_vectors
from hexsim.hvx.streams import Kernel, elementwise, layout_change
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Stage

_THREADS = 2
_GROUP_PACKETS = 5
"""Addresses and loops of four pixels of all sheets. Source: Hexagon NN, from_d32_h.S."""
_ROW_PACKETS = 2
"""The next row. Source: the same."""


def to_d32(shape: Shape, target: Target, traffic: Traffic, bits: int = 8) -> Stage | None:
    """Return the conversion of flat codes to d32; None for a tensor without spatial axes."""
    return _change(shape, layout_change.to_d32, target, traffic, bits)


def from_d32(shape: Shape, target: Target, traffic: Traffic, bits: int = 8) -> Stage | None:
    """Return the conversion of codes from d32; None for a tensor without spatial axes."""
    return _change(shape, layout_change.from_d32, target, traffic, bits)


def out_of_d32(shape: Shape, target: Target) -> RowCost:
    """Return the cost of a row of a conversion from d32.

    Four pixels are a pass over whole groups of four sheets, then one over the rest. One sheet is in
    the flat order already, and copied.
    """
    _, _, width, channels = as_nhwc(shape)
    groups = row_vectors(width)
    if channels == SHEET:
        return RowCost.of(elementwise.copy(target.machine).cost, groups)
    whole, rest = divmod(channels, 4 * SHEET)
    row = RowCost.of(layout_change.from_d32(target.machine).cost, groups * whole)
    if rest:
        row += RowCost.of(layout_change.from_d32_edge(target.machine).cost, groups)
    return row + RowCost(_GROUP_PACKETS * groups + _ROW_PACKETS)


def _change(
    shape: Shape,
    loop: Callable[[HvxMachine], Kernel],
    target: Target,
    traffic: Traffic,
    bits: int,
) -> Stage | None:
    if not is_spatial(shape):
        return None
    threads = min(_THREADS, target.workers)
    if has_few_channels(shape):
        batch, height, width, channels = as_nhwc(shape)
        pixel = layout_change.few_channels(target.machine, channels * bits // 8).cost
        row = RowCost.of(pixel, width)
        return row_stage(batch * height, row, threads, traffic, target.l2_bytes)
    if loop is layout_change.from_d32:
        batch, height, _, _ = as_nhwc(shape)
        row = out_of_d32(shape, target)
        stage = row_stage(batch * height, row, threads, traffic, target.l2_bytes)
        return stage if bits == 8 else twice_stage(stage)
    stage = per_vector_stage(shape, loop(target.machine).cost, threads, traffic, target.l2_bytes)
    return stage if bits == 8 else twice_stage(stage)
