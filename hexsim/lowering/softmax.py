"""Softmax; of 8-bit codes as Hexagon NN computes it (hexsim.lowering.softmax_of_bytes).

With 16 bits, and where the output's encoding or the runtime is not Hexagon NN's, a table of
exponentials and one rounded division:

e(d)  = round(2^23 * exp(-delta_x * d)), d = largest code - code
D     = 2^16 * sum of e
code  = clamp(zy + floor((2 * e * scale + D) / (2 * D)), 0, largest code),
            scale = round(2^16 / delta_y), at most 2^38
"""

import math
from dataclasses import dataclass

import numpy as np

from hexsim.layers import Softmax
from hexsim.lowering.lowered_call import Int32, LoweredCall
from hexsim.lowering.requantize import rounded
from hexsim.lowering.softmax_of_bytes import LoweredByteSoftmax, softmax_tables
from hexsim.lowering.source import Lowerings, QuantizedSource

EXPONENTIAL_BITS = 23
"""Fraction bits of e (our choice: a thousand classes at e^-12 still count)."""
SCALE_BITS = 16
"""Fraction bits of 1 / delta_y (our choice: as exact as a code can show)."""
_LARGEST_SCALE = 1 << 38
"""A limit that lets 2 * e * scale + D fit an int64 for any delta_y; only steps below 2^-22 reach
it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSoftmax(LoweredCall):
    """`exponentials` has an entry for each code; the sum runs over stored axes `axes`."""

    axes: tuple[int, ...]
    exponentials: Int32
    scale: int


def lower_softmax(layer: Softmax, source: QuantizedSource) -> LoweredSoftmax | LoweredByteSoftmax:
    """Turn a softmax into integers."""
    call = source.operands(layer)
    if source.is_own("softmax", call.output.encoding):
        count = math.prod(call.output.shape[axis] for axis in layer.axes)
        powers, shares, sum_bits = softmax_tables(call.inputs[0].delta, count)
        return LoweredByteSoftmax(
            *call, axes=layer.axes, powers=powers, shares=shares, sum_bits=sum_bits
        )
    distance = np.arange(call.inputs[0].encoding.steps + 1, dtype=np.float64)
    table = rounded(np.exp(-call.inputs[0].delta * distance) * (1 << EXPONENTIAL_BITS))
    return LoweredSoftmax(
        *call,
        axes=layer.axes,
        exponentials=table.astype(np.int32),
        scale=min(int((1 << SCALE_BITS) / call.output.delta + 0.5), _LARGEST_SCALE),
    )


LOWERINGS: Lowerings = {Softmax: lower_softmax}
