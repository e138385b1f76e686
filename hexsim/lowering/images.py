"""Pooling and resizing of images, by the rules of docs/reference/arithmetic.md.

A maximum is taken over codes; an average of 8-bit codes is scaled as Hexagon NN does, and the sum
of 16-bit codes requantised. Windows at a border may count fewer inputs, so there are constants for
each distinct count, and a map that says which of them an output pixel takes.

The nearest pixel is copied, or neighbours are interpolated as Hexagon NN does it. The positions of
16-bit codes and those of the nearest pixel are computed in float32, as onnxruntime does, since that
decides ties; those of 8-bit bilinear resizing are fixed-point numbers with 32 fraction bits. Codes
keep the input's encoding; a table follows if the output has another.
"""

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Shape
from hexsim.layers import Pooling, Resize, Window
from hexsim.lowering.headroom import largest_distance, requantize_sums
from hexsim.lowering.lowered_call import Codes, Int32, Int64, LoweredCall, Operand, Real
from hexsim.lowering.requantize import (
    Requantize,
    moved_table,
    rescale_table,
    rounded,
    same_encoding,
)
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding
from hexsim.records import dataclass

_LARGEST_EXPONENT = 16
"""An output whose step is finer than 2^-16 of the sum's saturates but for broken encodings."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredMaxPool(LoweredCall):
    """Largest code in the window, padding left out, then `table` if the encodings differ.

    A window that holds nothing but padding gives code 0.
    """

    window: Window
    table: Codes | None


@dataclass(frozen=True, eq=False)
class Means:
    """Constants that turn sums into codes, one of each per distinct count."""

    gain: Int64
    offset: Int64
    right: Int64
    factor: Int64
    last: Int64

    def fits_32_bits(self, largest: int) -> npt.NDArray[np.bool_]:
        """Return for each entry whether sums of up to `largest` need no more than 32 bits."""
        scaled = largest * self.gain + np.abs(self.offset)
        product = (scaled >> self.right) * self.factor + (1 << 14)
        fits: npt.NDArray[np.bool_] = np.maximum(scaled, product) < 1 << 31
        return fits

    def apply(self, sums: Int64, entry: Int32) -> Int64:
        """Return the codes of sums (..., n), each by the constants of its `entry` (...)."""
        gain, offset, right, factor, last = (
            x[entry][..., None]
            for x in (self.gain, self.offset, self.right, self.factor, self.last)
        )
        scaled = (((sums * gain + offset) >> right) * factor + (1 << 14)) >> 15
        codes: Int64 = np.clip((scaled + (1 << last >> 1)) >> last, 0, 255)
        return codes


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredAveragePool(LoweredCall):
    """`means` has one entry per distinct count; `entry_of` (H', W') is the entry of each pixel."""

    window: Window
    means: Means
    entry_of: Int32


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredAveragePool16(LoweredCall):
    """Of 16-bit codes: `stage` has one entry per distinct count, `stage_of` that of each pixel."""

    window: Window
    stage: Requantize
    stage_of: Int32


def lower_pooling(
    layer: Pooling, source: QuantizedSource
) -> LoweredMaxPool | LoweredAveragePool | LoweredAveragePool16:
    """Turn a pooling into integers."""
    call = source.operands(layer)
    if layer.kind == "max":
        return LoweredMaxPool(*call, window=layer.window, table=moved_table(call))
    counts = window_counts(layer.window, call.inputs[0].shape, layer.count_include_pad)
    distinct, entry = np.unique(counts, return_inverse=True)
    entries = entry.reshape(counts.shape).astype(np.int32)
    if call.inputs[0].bits == 8:
        return LoweredAveragePool(
            *call,
            window=layer.window,
            means=_means(layer, call.inputs[0], call.output, distinct, counts.size),
            entry_of=entries,
        )
    return LoweredAveragePool16(
        *call,
        window=layer.window,
        stage=requantize_sums(
            layer.name,
            call.inputs[0].delta / distinct,
            distinct * largest_distance(call.inputs[0]),
            call.output.encoding,
            fraction_bits=call.inputs[0].bits - 8,
        ),
        stage_of=entries,
    )


def _means(layer: Pooling, x: Operand, output: Operand, counts: Int64, pixels: int) -> Means:
    if pixels > 1 and same_encoding(x.encoding, output.encoding):
        return means_of_codes(counts, layer.window.taps, x.zero_point)
    return scaled_means(x.delta / counts, output.encoding)


def means_of_codes(counts: Int64, places: int, zero_point: int) -> Means:
    """Return the constants for means in the input's codes, of windows with `places` places."""
    bits = (places - 1).bit_length() + 1
    gain = rounded(2.0**24 * places / counts).astype(np.int64)
    offset = zero_point * counts * gain + (1 << (15 + bits))
    # In lowest terms: kernels compute with 32 bits where that is enough.
    terms = gain | offset
    surplus = np.minimum(np.frexp((terms & -terms).astype(np.float64))[1] - 1, 15 + bits)
    return Means(
        gain=gain >> surplus,
        offset=offset >> surplus,
        right=16 + bits - surplus.astype(np.int64),
        factor=np.full_like(gain, int(rounded(np.array(2.0 ** (13 + bits) / places)))),
        last=np.full_like(gain, 6),
    )


def scaled_means(steps: Real, output: Encoding) -> Means:
    """Return the constants for sums in `steps` real units, scaled to the output's encoding."""
    scale = steps / output.delta
    exponent = np.clip(np.frexp(scale)[1].astype(np.int64), -31, _LARGEST_EXPONENT)
    left, right = np.maximum(exponent, 0), np.maximum(-exponent, 0)
    factor = np.clip(rounded(np.ldexp(scale, 15 - exponent)), 1, 32767)
    return Means(
        gain=np.int64(2) << left,
        offset=rounded(np.ldexp(output.zero_point / factor, 16 + right)).astype(np.int64),
        right=np.zeros_like(exponent),
        factor=factor.astype(np.int64),
        last=1 + right,
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


WEIGHT_BITS = 15
"""Fraction bits of weights of 16-bit codes (our choice: a position is off by 2^-16 of a pixel at
most, as fine as the codes)."""
_FRACTION_BITS = 24
"""Fraction bits of a sum of 16-bit codes times both weights (our choice: an output step of up to
1024 of the input's keeps its zero point inside the accumulator)."""

ROW_BITS, COLUMN_BITS = 7, 15
"""Fraction bits of the weights of rows and columns (Hexagon NN)."""

VECTOR_COLUMNS = 4
"""Columns of 32 channels in a vector of 128 bytes."""

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
    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredDoubling(LoweredCall):
    """Twice the size; rows between two are rounded up from output column `up_from` on."""

    up_from: int
    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredBilinear16(LoweredCall):
    """Of 16-bit codes: `rows` and `columns` as of 8 bits, with weights of 15 bits."""

    rows: Int32
    columns: Int32
    stage: Requantize


LoweredResize = LoweredNearest | LoweredBilinear | LoweredDoubling | LoweredBilinear16


def lower_resize(layer: Resize, source: QuantizedSource) -> LoweredResize:
    """Turn a resize into integers."""
    call = source.operands(layer)
    if layer.kind == "bilinear" and call.inputs[0].bits == 8:
        return _bilinear(layer, call.inputs[0], call.output)
    size, output_size = call.inputs[0].shape[1:3], call.output.shape[1:3]
    scales = layer.scales_of(*size)
    rows, columns = (
        _positions(layer, out, length, scale)
        for out, length, scale in zip(output_size, size, scales, strict=True)
    )
    if layer.kind == "nearest":
        return LoweredNearest(
            *call,
            rows=_nearest(layer, rows, size[0]),
            columns=_nearest(layer, columns, size[1]),
            table=moved_table(call),
        )
    return LoweredBilinear16(
        *call,
        rows=_between(rows, size[0]),
        columns=_between(columns, size[1]),
        stage=requantize_sums(
            layer.name,
            call.inputs[0].delta * 4.0**-WEIGHT_BITS,
            largest_distance(call.inputs[0]) * 4**WEIGHT_BITS,
            call.output.encoding,
            fraction_bits=_FRACTION_BITS,
        ),
    )


def _bilinear(layer: Resize, x: Operand, output: Operand) -> LoweredBilinear | LoweredDoubling:
    _, height, width, _ = x.shape
    table = rescale_table(x, output.encoding)
    if layer.coordinates == "asymmetric" and output.shape[1:3] == (2 * height, 2 * width):
        return LoweredDoubling(
            layer.name,
            (x,),
            output,
            up_from=2 * ((width - 1) // VECTOR_COLUMNS * VECTOR_COLUMNS),
            table=table,
        )
    scales = layer.scales_of(height, width)
    return LoweredBilinear(
        layer.name,
        (x,),
        output,
        rows=_fixed_point(layer, output.shape[1], height, scales[0], ROW_BITS),
        columns=_fixed_point(layer, output.shape[2], width, scales[1], COLUMN_BITS),
        table=table,
    )


def _fixed_point(layer: Resize, count: int, size: int, scale: float, bits: int) -> Int32:
    """Return (count, 3): the pixels around each position in an axis of `size`, and the weight."""
    indices = np.arange(count, dtype=np.int64)
    corners = int(layer.coordinates == "align_corners" and count > 1)
    if corners or size * scale == count:
        step = (((size - corners) << 32) + ((count - corners) >> 1)) // (count - corners)
    else:
        step = int(rounded(np.array(2.0**32 / scale)))
    positions = indices * step
    alone = layer.coordinates == "pytorch_half_pixel" and count == 1
    if "half_pixel" in layer.coordinates and not alone:
        positions = np.maximum(positions + (step >> 1) - (1 << 31), 0)
    nearest = (positions + (1 << (31 - bits))) >> (32 - bits)
    nearest = np.minimum(nearest, (size - 1) << bits)
    first = nearest >> bits
    second = np.minimum(first + 1, size - 1)
    return np.stack([first, second, nearest - (first << bits)], axis=1).astype(np.int32)


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


LOWERINGS: Lowerings = {Pooling: lower_pooling, Resize: lower_resize}
