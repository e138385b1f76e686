"""Pooling: a maximum is taken over codes; an average is a sum whose step contains the division.

Average: acc = preload + sum of (x - zx) over the inputs in the window, and the accumulator's step
is delta_x / count. Windows at a border may count fewer inputs, so there is one set of requantise
constants per distinct count and a map that says which of them an output pixel takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Shape
from hexsim.layers import Pooling, Window
from hexsim.lowering.headroom import largest_distance
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall
from hexsim.lowering.requantize import Requantize, rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.sums import requantize_sums


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredMaxPool(LoweredCall):
    """Largest code in the window, padding left out, then `table` if the encodings differ.

    A window that holds nothing but padding gives code 0.
    """

    window: Window
    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredAveragePool(LoweredCall):
    """`stage` has one entry per distinct count; `stage_of` (H', W') is the entry of each pixel."""

    window: Window
    stage: Requantize
    stage_of: Int32


def lower_pooling(layer: Pooling, source: QuantizedSource) -> LoweredMaxPool | LoweredAveragePool:
    """Turn a pooling into integers."""
    inputs, output = source.operands(layer)
    if layer.kind == "max":
        return LoweredMaxPool(
            layer=layer.name,
            inputs=inputs,
            output=output,
            window=layer.window,
            table=rescale_table(inputs[0], output.encoding),
        )
    counts = window_counts(layer.window, inputs[0].shape, layer.count_include_pad)
    distinct, entry = np.unique(counts, return_inverse=True)
    return LoweredAveragePool(
        layer=layer.name,
        inputs=inputs,
        output=output,
        window=layer.window,
        stage=requantize_sums(
            layer.name,
            inputs[0].delta / distinct,
            distinct * largest_distance(inputs[0]),
            output.encoding,
            fraction_bits=inputs[0].bits - 8,
        ),
        stage_of=entry.reshape(counts.shape).astype(np.int32),
    )


def window_counts(window: Window, shape: Shape, include_pad: bool) -> npt.NDArray[np.int64]:
    """Return what each output pixel's sum is divided by, shape (H', W'), at least 1.

    With `include_pad` the padding counts, but not what `ceil_mode` adds beyond it.
    """
    per_axis = []
    for axis, out in enumerate(window.output_size(shape[1], shape[2])):
        begin = window.pads[axis] if include_pad else 0
        end = shape[1 + axis] + (window.pads[axis + 2] if include_pad else 0)
        first = np.arange(out)[:, None] * window.strides[axis] - window.pads[axis]
        taps = first + np.arange(window.kernel[axis]) * window.dilations[axis]
        per_axis.append(((taps >= -begin) & (taps < end)).sum(axis=1))
    counts: npt.NDArray[np.int64] = np.maximum(np.outer(*per_axis), 1)
    return counts


LOWERINGS: Lowerings = {Pooling: lower_pooling}
