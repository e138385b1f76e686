"""Rescaling as Hexagon NN does it where it joins or compares 8-bit operands.

Scales that these factors do not hold, which the library avoids by the choice of its output range,
are rescaled like any code that moves (`requantize.rescale_table`). So are 16-bit codes.
"""

import math

import numpy as np

from hexsim.layers import Clamp
from hexsim.lowering.lowered_call import Codes, Operand
from hexsim.lowering.requantize import clamp_codes, rescale_table
from hexsim.quantization.encodings import Encoding

_COMPARED_BITS = 12
"""Fraction bits of the factors of maximum and minimum, unsigned 16-bit numbers."""
_ONE = (1 << 15) - 1
"""The largest gain of a concat, which stands for a step equal to the output's."""
_COPIES = 32704
"""From this gain on, codes that begin where the output's do are copied."""


def joined_table(source: Operand, output: Encoding) -> Codes | None:
    """Return the codes of a concat for all codes of an input, or None if no code changes."""
    plain = rescale_table(source, output)
    ratio = source.delta / output.delta
    if plain is None or source.bits != 8 or output.bitwidth != 8 or ratio > 1 + 1 / _ONE:
        return plain
    gain, offset = _gain_and_offset(source, output)
    if gain >= _COPIES and offset == 0:
        return None
    fine = ((np.arange(256, dtype=np.int64) * gain) >> 8) + offset
    codes = (np.clip(fine, -(1 << 15), _ONE) + 64) >> 7
    joined: Codes = codes.clip(0, 255).astype(output.dtype)
    return joined


def _gain_and_offset(source: Operand, output: Encoding) -> tuple[int, int]:
    """Cut, not rounded, so the last place of a float32 counts: as the library, in float32."""
    own = source.encoding
    lowest, least = np.float32(own.min), np.float32(output.min)
    step = (np.float32(own.max) - lowest) / np.float32(255)
    per_step = np.float32(255) / (np.float32(output.max) - least)
    gain = min(int(per_step * step * np.float32(1 << 15)), _ONE)
    return gain, int((lowest - least) * per_step * np.float32(128))


def compared_table(source: Operand, output: Encoding, clamp: Clamp) -> Codes | None:
    """Return the codes that maximum and minimum compare, or None if no code changes."""
    plain = rescale_table(source, output, clamp)
    factor = math.floor(source.delta / output.delta * (1 << _COMPARED_BITS) + 0.5)
    same = (source.delta, source.zero_point) == (output.delta, output.zero_point)
    if plain is None or same or source.bits != 8 or output.bitwidth != 8 or factor >= 1 << 16:
        return plain
    distances = (np.arange(256, dtype=np.int64) - source.zero_point) * factor
    rounded = (distances + (1 << _COMPARED_BITS >> 1)) >> _COMPARED_BITS
    low, high = clamp_codes(clamp, output)
    return (rounded + output.zero_point).clip(low, high).astype(output.dtype)
