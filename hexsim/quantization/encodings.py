"""Encodings: how real numbers become integers, the quantised values, called codes here.

`real = delta * (q + offset)` with q in 0 .. 2^bitwidth - 1 and offset <= 0, so that zero is
always exact. A symmetric encoding of weights is the same formula with offset -2^(bitwidth-1);
its codes are stored signed, with that offset taken out. Source: the quantisation chapter of the
SNPE reference guide (releases 1.17 to 2.5) and the AIMET sources, which agree except on ties: there
AIMET's rounding is used, SNPE's is unknown.

Two 4-bit codes may be packed into a byte, the first in the low nibble: in one run in C order, or in
one per channel (the last axis). Each run starts a new byte, padded with a zero nibble; signed codes
are in two's complement (SNPE guide of 2025; documented).

A BlockEncoding has 4-bit weights in blocks whose scales are whole multiples of one per channel
(AIMET: LPBQ). A value is `delta[c] * k * q` with q of few bits. Because the scale k is whole,
`k * q` is a code of the wider, decompressed type with one step per channel, which kernels multiply
with and a file holds.

Floats that enter a fixed-point subnet get the codes of `input_codes`; constants and weights have
the nearest codes (`Encoding.quantize`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import UNSTORED
from hexsim.graph.ir import FloatArray, Shape
from hexsim.records import dataclass, field, replace
from hexsim.threads import spread

MINIMUM_RANGE = 0.01
"""Smallest max - min of an encoding, in real units (SNPE guide 1.17 to 2.5; documented)."""

BITS = (4, 8, 16)
"""Widths of codes."""
SMALLEST_STEP, _LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
"""Bounds of a step and of a range: files hold them as float32, and a step is no subnormal number,
so that quotients of two steps are finite."""
_BLOCK = 1 << 16
"""Elements whose doubles are in memory, and in the cache, at once."""
FloatBits = Literal[16, 32]
"""Bits of a tensor that has no encoding because it stays float."""


@dataclass(frozen=True)
class Encoding:
    """One tensor's (or one channel's) code: real = delta * (q + offset)."""

    bitwidth: int
    min: float
    max: float
    delta: float
    offset: int
    symmetric: bool = False

    def __str__(self) -> str:
        return (
            f"min {self.min:.12f}, max {self.max:.12f}, delta {self.delta:.12f}, "
            f"offset {-self.zero_point:.12f} bitwidth {self.bitwidth}"
        )

    def fault(self) -> str | None:
        """Return what is wrong with the encoding, or None."""
        if self.bitwidth not in BITS:
            return f"has {self.bitwidth} bits; expected {', '.join(map(str, BITS))}"
        if not -_LARGEST <= self.min < self.max <= _LARGEST:
            return f"reaches from {self.min:g} to {self.max:g}"
        if not SMALLEST_STEP <= self.delta <= _LARGEST:
            return f"has steps of {self.delta:g}"
        lowest = 1 << (self.bitwidth - 1) if self.symmetric else None
        if -self.offset not in ((lowest,) if lowest else range(self.steps + 1)):
            return f"has the offset {self.offset}, which is no code of {self.bitwidth} bits"
        bounds = self.delta * self.offset, self.delta * (self.offset + self.steps)
        if max(abs(bounds[0] - self.min), abs(bounds[1] - self.max)) > self.delta:
            return (
                f"reaches from {self.min:g} to {self.max:g}, and its steps and offset from "
                f"{bounds[0]:g} to {bounds[1]:g}"
            )
        return None

    def as_float32(self) -> Encoding:
        """Return the encoding with its real numbers rounded to float32, as SNPE's files have it."""
        low, high, delta = (float(np.float32(n)) for n in (self.min, self.max, self.delta))
        return replace(self, min=low, max=high, delta=delta)

    @property
    def steps(self) -> int:
        """Largest unsigned code, 2^bitwidth - 1."""
        return (1 << self.bitwidth) - 1

    @property
    def zero_point(self) -> int:
        """Stored code of real zero: 0 for signed (symmetric) codes, else -offset."""
        return 0 if self.symmetric else -self.offset

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Storage type of the codes."""
        bits = 8 if self.bitwidth <= 8 else 16 if self.bitwidth <= 16 else 32
        return np.dtype(f"{'int' if self.symmetric else 'uint'}{bits}")

    @classmethod
    def from_range(
        cls, low: float, high: float, bitwidth: int = 8, minimum_range: float = MINIMUM_RANGE
    ) -> Encoding:
        """Return the default ("tf") asymmetric encoding of values in [low, high].

        The range is widened to hold zero and at least `minimum_range`, then shifted by less than
        a step so that zero is a code.
        """
        steps = (1 << bitwidth) - 1
        low, high = min(0.0, float(low)), max(0.0, float(high))
        high = max(high, low + minimum_range)
        delta = (high - low) / steps
        offset = -min(int(-low / delta + 0.5), steps)
        return cls(bitwidth, delta * offset, (high - low) + delta * offset, delta, offset)

    @classmethod
    def symmetric_of(cls, limit: float, bitwidth: int = 8) -> Encoding:
        """Return the symmetric encoding of values in [-limit, limit] (`limit` > 0)."""
        half = 1 << (bitwidth - 1)
        delta = float(limit) / (half - 1)
        return cls(bitwidth, -half * delta, (half - 1) * delta, delta, -half, symmetric=True)

    def quantize(self, x: npt.NDArray[np.floating]) -> npt.NDArray[np.integer]:
        """Return the stored codes of `x`, any shape."""
        lowest = self.offset if self.symmetric else 0
        return _in_blocks(
            lambda part: _nearest_code(part, self.delta, self.offset, self.steps) + lowest,
            x,
            1,
            self.dtype,
        )

    def dequantize(self, q: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        """Return the real values (float32) of stored codes, any shape."""
        return _in_blocks(
            lambda part: (part.astype(np.float64) - self.zero_point) * self.delta,
            q,
            1,
            np.dtype(np.float32),
        )


@dataclass(frozen=True)
class AxisEncoding:
    """One symmetric encoding per output channel, the last axis of a weight."""

    channels: tuple[Encoding, ...]

    def __post_init__(self) -> None:
        if not self.channels or not all(channel.symmetric for channel in self.channels):
            raise InvalidDataError("an axis encoding needs one symmetric encoding per channel")

    def as_float32(self) -> AxisEncoding:
        """Return the encoding with its real numbers rounded to float32, as SNPE's files have it."""
        return AxisEncoding(tuple(channel.as_float32() for channel in self.channels))

    def __str__(self) -> str:
        low, high = min(c.min for c in self.channels), max(c.max for c in self.channels)
        deltas = self.deltas
        return (
            f"axis: last, num_elements: {len(self.channels)}, min {low:.12f}, max {high:.12f}, "
            f"delta {deltas.min():.12f} to {deltas.max():.12f}, offset {0:.12f} "
            f"bitwidth {self.bitwidth}"
        )

    def fault(self) -> str | None:
        """Return what is wrong if the channels differ in bits, else None."""
        widths = {channel.bitwidth for channel in self.channels}
        return f"has channels of {sorted(widths)} bits" if len(widths) > 1 else None

    @property
    def bitwidth(self) -> int:
        """Bits of a code, the same for all channels."""
        return self.channels[0].bitwidth

    @property
    def deltas(self) -> npt.NDArray[np.float64]:
        """Step of each channel, shape (channels,)."""
        return np.array([channel.delta for channel in self.channels])

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Storage type of the codes."""
        return self.channels[0].dtype

    def quantize(self, x: npt.NDArray[np.floating]) -> npt.NDArray[np.integer]:
        """Return the stored codes of `x`, shape (..., channels)."""
        first = self.channels[0]
        deltas = self.deltas
        return _in_blocks(
            lambda part: _nearest_code(part, deltas, first.offset, first.steps) + first.offset,
            x,
            deltas.size,
            self.dtype,
        )

    def dequantize(self, q: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        """Return the real values (float32) of stored codes, shape (..., channels)."""
        deltas = self.deltas
        return _in_blocks(
            lambda part: part.astype(np.float64) * deltas, q, deltas.size, np.dtype(np.float32)
        )


def _in_blocks(
    change: Callable[[npt.NDArray[np.generic]], npt.NDArray[np.float64]],
    array: npt.NDArray[np.generic],
    width: int,
    dtype: np.dtype[np.generic],
) -> npt.NDArray[Any]:
    """Apply `change` to rows of `width` elements in blocks, since float64 takes much memory."""
    rows = array.reshape(-1, width)
    result = np.empty(rows.shape, dtype)

    def changed(part: slice) -> None:
        result[part] = change(rows[part])

    spread(changed, len(rows), max(1, _BLOCK // width))
    return result.reshape(array.shape)


def _nearest_code(
    x: npt.NDArray[np.generic], delta: float | npt.NDArray[np.float64], offset: int, steps: int
) -> npt.NDArray[np.float64]:
    """Return unsigned codes as float64; a tie takes the larger code, values outside saturate."""
    codes = x.astype(np.float64)
    codes /= delta
    codes -= offset
    codes += 0.5
    np.floor(codes, out=codes)
    return np.clip(codes, 0, steps, out=codes)


Runs = Literal["tensor", "channel"]


def packed_bytes(shape: Shape, runs: Runs) -> int:
    """Return the number of bytes of packed codes of `shape`."""
    count, length = _count_and_length(shape, runs)
    return count * ((length + 1) // 2)


def pack(codes: npt.NDArray[np.integer], runs: Runs) -> npt.NDArray[np.uint8]:
    """Return the bytes of int8 codes in -8 .. 7 or uint8 codes in 0 .. 15."""
    count, length = _count_and_length(codes.shape, runs)
    nibbles = np.zeros((count, length + length % 2), np.uint8)
    nibbles[:, :length] = codes.reshape(length, count).T & 0xF
    return (nibbles[:, 0::2] | nibbles[:, 1::2] << np.uint8(4)).ravel()


def unpack(
    data: npt.NDArray[np.uint8], shape: Shape, runs: Runs, dtype: npt.DTypeLike
) -> npt.NDArray[np.generic]:
    """Return the codes of `shape` and `dtype` (int8 or uint8) that `pack` packed."""
    count, length = _count_and_length(shape, runs)
    pairs = data.reshape(count, -1)
    nibbles = np.stack([pairs & 0xF, pairs >> np.uint8(4)], axis=-1).reshape(count, -1)[:, :length]
    if np.dtype(dtype).kind == "i":
        nibbles = (nibbles ^ 8) - np.uint8(8)  # sign extension, modulo 256
    return np.ascontiguousarray(nibbles.T).reshape(shape).view(dtype)


def _count_and_length(shape: Shape, runs: Runs) -> tuple[int, int]:
    """Return the number of runs and the number of codes in each."""
    count = shape[-1] if runs == "channel" else 1
    return count, math.prod(shape) // count


@dataclass(frozen=True)
class BlockEncoding(AxisEncoding):
    """An encoding per channel, of weights of shape (..., input channels, channels).

    `multiples` has the whole scale of each block, by channel; a block has `block_size` input
    channels. `bits` is the width of q. A file stores the encoding per channel only.
    """

    bits: int = field(default=4, metadata=UNSTORED)
    block_size: int = field(default=1, metadata=UNSTORED)
    multiples: tuple[tuple[int, ...], ...] = field(default=(), metadata=UNSTORED)

    def quantize(self, x: npt.NDArray[np.floating]) -> npt.NDArray[np.integer]:
        """Return the decompressed codes of `x`; a tie takes the larger q, as elsewhere.

        Values of another shape than the weight's, such as extremes of channels, have no blocks and
        become the nearest codes of their channel.
        """
        blocks = np.array(self.multiples, np.float64).T
        multiples = np.repeat(blocks, self.block_size, axis=0)
        if x.shape[-2:] != multiples.shape:
            return super().quantize(x)
        half = 1 << (self.bits - 1)
        codes = np.empty(x.shape, self.dtype)
        planes = x.reshape(-1, *multiples.shape)
        for plane, written in zip(planes, codes.reshape(planes.shape), strict=True):
            q = np.floor(plane / (self.deltas * multiples) + 0.5)
            written[...] = np.clip(q, -half, half - 1) * multiples
        return codes


_SPAN_BITS = 20
"""Bits of the range of all codes, counted in units."""
_FRACTION_BITS = 24
"""Places below a code in the product of a distance and the factor."""
_GAP = 256 / 255
"""From the distance of the outer codes to the range that 256 codes take up."""


@dataclass(frozen=True)
class InputConstants:
    """Integers of one encoding: code = (clip(trunc(x / 2^unit) + start, 0, span) * factor) >> 24.

    The product stays below 2^32.
    """

    unit: int
    start: int
    span: int
    factor: int

    @classmethod
    def of(cls, encoding: Encoding) -> InputConstants:
        """Return those of an asymmetric encoding of 8 bits."""
        low = _single(encoding.delta * encoding.offset)
        high = _single(encoding.delta * (encoding.offset + encoding.steps))
        mantissa, exponent = math.frexp(_single(_single(high - low) * _single(_GAP)))
        unit = exponent - _SPAN_BITS
        span = int(math.ldexp(mantissa, _SPAN_BITS))
        half = span >> 9
        start = int(math.ldexp(-low, -unit)) + half
        return cls(unit, start, span, (2**32 - 1) // span)


def cuts(encoding: Encoding) -> bool:
    """Return whether floats are cut as by Hexagon NN, rather than rounded."""
    return encoding.bitwidth == 8 and not encoding.symmetric


def input_codes(values: FloatArray, encoding: Encoding) -> npt.NDArray[np.integer]:
    """Return the codes of finite floats, any shape, at the entrance of a fixed-point subnet."""
    if not cuts(encoding):
        return encoding.quantize(values)
    constants = InputConstants.of(encoding)
    with np.errstate(over="ignore"):  # beyond all codes
        units = np.ldexp(values.astype(np.float32).astype(np.float64), -constants.unit)
    inside = np.clip(units, -constants.start, constants.span - constants.start)
    distances = inside.astype(np.int64) + constants.start
    return (distances * constants.factor >> _FRACTION_BITS).astype(encoding.dtype)


def _single(value: float) -> float:
    """Return `value` with 24 bits, as single precision of unbounded exponents rounds it."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, 24)), exponent - 24)
