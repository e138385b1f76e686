"""Codes of the floats that enter a fixed-point subnet (docs/reference/arithmetic.md).

Of 8 bits they are those of Hexagon NN, which cuts every float to a multiple of a power of two
before it compares it with the range. Any other encoding rounds to the nearest code. Constants and
weights do not enter here: they have the nearest codes (`Encoding.quantize`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import FloatArray
from hexsim.quantization.encodings import Encoding

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
