"""Leaky rectifiers of 8-bit codes: 16-bit factors, one for all positive codes, one per slope.

With g = delta_x / delta_y in single precision, A the largest |slope|, and exponent(a) the least e
with |a| < 2^e:

    e      = max(exponent(g * max(A, 1)), 0), at most 7
    F      = min(round(g * 2^(15-e)), 32767)                  factor of positive codes
    a      = sat16(round(slope * 2^(15-h))),                  h = exponent(A) if A > 1, else 0
    N      = sat16(rounded shift of a * min(round(g * 2^(15-exponent(g))), 32767) to the right by
             15 + e - exponent(g) - h)                        factor of negative codes
    v      = (128 * (x - zx) * (F or N) + 2^14) >> 15,        sat16
    code   = u8((sat16(v + (zy << n)) + (2^n >> 1)) >> n),    n = 7 - e

These are the codes of Hexagon NN. It refuses slopes and gains of 128 and more (e > 7, h > 7).
"""

import numpy as np

from hexsim.lowering.lowered_call import Codes, Int64, Operand, Real
from hexsim.lowering.requantize import rounded
from hexsim.quantization.encodings import Encoding

_MOST = 7
"""Largest exponent of gains and slopes (Hexagon NN: codes times 128 fill 16 bits)."""
_S16 = (-32768, 32767)


def leaky_codes(slopes: Real, x: Operand, output: Encoding) -> Codes | None:
    """Return the output's codes for all 256 codes of `x`, (slopes, 256); None if refused."""
    gain = float(np.float32(x.delta) / np.float32(output.delta))
    largest = float(np.abs(slopes).max())
    exponent = max(_exponent(gain * max(largest, 1.0)), 0)
    of_slopes = _exponent(largest) if largest > 1 else 0
    if exponent > _MOST or of_slopes > _MOST or gain == 0:
        return None
    positive = _limited(rounded(np.ldexp([gain], 15 - exponent)))
    scaled = _limited(rounded(np.ldexp(slopes, 15 - of_slopes)))
    finest = _limited(rounded(np.ldexp([gain], 15 - _exponent(gain))))
    right = min(15 + exponent - _exponent(gain) - of_slopes, 62)
    negative = _limited((scaled * finest + ((1 << right) >> 1)) >> right)
    distances = np.arange(x.encoding.steps + 1, dtype=np.int64) - x.zero_point
    factors = np.where(distances < 0, negative[:, None], positive)
    places = _MOST - exponent
    products = _limited((128 * distances * factors + (1 << 14)) >> 15)
    sums = _limited(products + (output.zero_point << places))
    codes = (sums + ((1 << places) >> 1)) >> places
    return codes.clip(0, output.steps).astype(output.dtype)


def _exponent(number: float) -> int:
    return int(np.frexp(number)[1])


def _limited(numbers: Real | Int64) -> Int64:
    return np.clip(numbers, *_S16).astype(np.int64)
