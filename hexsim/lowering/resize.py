"""Resize: the nearest pixel is copied, or four pixels are added by integer weights.

Positions are computed in float32, as onnxruntime does, since that decides ties. Bilinear,
for a position at y between the rows i and i + 1 and x between the columns j and j + 1:

    v = round(2^B * (y - i))      h = round(2^B * (x - j))
    acc = preload + (2^B - v) * (2^B - h) * (X[i, j] - zx) + (2^B - v) * h * (X[i, j + 1] - zx)
                  + v * (2^B - h) * (X[i + 1, j] - zx)     + v * h * (X[i + 1, j + 1] - zx)

and the step of acc is delta_x * 2^-2B, so that there is one rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.layers import Resize
from hexsim.lowering.headroom import largest_distance
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall
from hexsim.lowering.requantize import Requantize, rescale_table, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.sums import requantize_sums

WEIGHT_BITS = 9
"""B. Our choice: a position is off by 2^-10 of a pixel at most, and an output step of up to 32 of
the input's keeps its zero point inside the accumulator."""

Positions = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredNearest(LoweredCall):
    """Output pixel (y, x) is input pixel (`rows[y]`, `columns[x]`), through `table` if not None."""

    rows: Int32
    columns: Int32
    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredBilinear(LoweredCall):
    """`rows` and `columns` are (positions, 3): the first pixel, the second, the second's weight."""

    rows: Int32
    columns: Int32
    stage: Requantize


def lower_resize(layer: Resize, source: QuantizedSource) -> LoweredNearest | LoweredBilinear:
    """Turn a resize into integers."""
    inputs, output = source.operands(layer)
    size, output_size = inputs[0].shape[1:3], output.shape[1:3]
    scales = layer.scales_of(*size)
    rows, columns = (
        _positions(layer, out, length, scale)
        for out, length, scale in zip(output_size, size, scales, strict=True)
    )
    if layer.kind == "nearest":
        return LoweredNearest(
            layer=layer.name,
            inputs=inputs,
            output=output,
            rows=_nearest(layer, rows, size[0]),
            columns=_nearest(layer, columns, size[1]),
            table=rescale_table(inputs[0], output.encoding),
        )
    return LoweredBilinear(
        layer=layer.name,
        inputs=inputs,
        output=output,
        rows=_between(rows, size[0]),
        columns=_between(columns, size[1]),
        stage=requantize_sums(
            layer.name,
            inputs[0].delta * 4.0**-WEIGHT_BITS,
            largest_distance(inputs[0]) * 4**WEIGHT_BITS,
            output.encoding,
            fraction_bits=inputs[0].bits - 8,
        ),
    )


def _positions(layer: Resize, count: int, size: int, scale: float) -> Positions:
    """Return where `count` output pixels lie in an axis of `size` input pixels."""
    indices, step = np.arange(count, dtype=np.float32), np.float32(scale)
    match layer.coordinates:
        case "align_corners":
            return indices * np.float32(size - 1) / np.float32(max(count - 1, 1))
        case "asymmetric":
            return indices / step
        case "pytorch_half_pixel" if count == 1:
            return indices
        case _:
            half = np.float32(0.5)
            return (indices + half) / step - half


def _nearest(layer: Resize, coordinates: Positions, size: int) -> Int32:
    positions, half = coordinates.astype(np.float64), 0.5  # so that halves are added exactly
    match layer.rounding:
        case "floor":
            chosen = np.floor(positions)
        case "ceil":
            chosen = np.ceil(positions)
        case "round_prefer_floor":
            chosen = np.ceil(positions - half)
        case "round_prefer_ceil":
            chosen = np.floor(positions + half)
    return np.clip(chosen, 0, size - 1).astype(np.int32)


def _between(positions: Positions, size: int) -> Int32:
    inside = np.clip(positions, 0, size - 1).astype(np.float64)
    first = np.floor(inside)
    weights = rounded((inside - first) * (1 << WEIGHT_BITS))
    return np.stack([first, np.minimum(first + 1, size - 1), weights], axis=1).astype(np.int32)


LOWERINGS: Lowerings = {Resize: lower_resize}
