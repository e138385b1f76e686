"""LocalResponseNorm with an exact sum of squares and a table for the power.

So of 16-bit operands, and of what `response_norm_of_bytes` does not take.

    S   = sum of (x - zx)^2 over the channels of the window that exist
    f(S) = (bias + alpha / size * delta_x^2 * S)^-beta
    F   = interpolated table of f(S) / f(0) * 2^17
    acc = preload + (x - zx) * F, with the step delta_x * f(0) * 2^-17

Knots of the table lie at every S below 64 and at 64 equal steps in each octave above, because f is
smooth in log S: linear interpolation is then within beta * (beta + 1) / 8 / 64^2 of f, relative.
The interpolation has one rounding: F = knot + ((next - knot) * rest + half) >> bits.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.layers import LocalResponseNorm
from hexsim.lowering.headroom import largest_distance
from hexsim.lowering.lowered_call import Int32, LoweredCall, Operand
from hexsim.lowering.requantize import Requantize, rounded
from hexsim.lowering.response_norm_of_bytes import LoweredByteResponseNorm, lower_byte_response_norm
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.sums import requantize_sums

OCTAVE_BITS = 6
"""log2 of the knots per octave (our choice: an error of 1/25000 at beta 0.75)."""
POWER_BITS = 17
"""Fraction bits of the table (our choice: fewer would blur small powers, more the multiplier)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredLocalResponseNorm(LoweredCall):
    """`powers` are F at the knots, `size` channels make a window; `stage` has one entry."""

    size: int
    powers: Int32
    stage: Requantize


def lower_local_response_norm(
    layer: LocalResponseNorm, source: QuantizedSource
) -> LoweredLocalResponseNorm | LoweredByteResponseNorm:
    """Turn a local response norm into integers; HexsimError if its bias is not positive."""
    _, inputs, output = source.operands(layer)
    if layer.bias <= 0:
        raise HexsimError(
            f"layer '{layer.name}': the bias of a local response norm is {layer.bias}; "
            "the integer kernel needs a positive one"
        )
    of_bytes = lower_byte_response_norm(layer, inputs[0], output)
    return of_bytes or lower_interpolated_norm(layer, inputs[0], output)


def lower_interpolated_norm(
    layer: LocalResponseNorm, x: Operand, output: Operand
) -> LoweredLocalResponseNorm:
    """Return the constants for operands of any width and any positive bias."""
    weight = layer.alpha / layer.size * x.delta**2
    knots = power_knots(layer.size * x.encoding.steps**2).astype(np.float64)
    relative = (1 + weight / layer.bias * knots) ** -layer.beta
    powers = rounded(relative * (1 << POWER_BITS)).astype(np.int32)
    return LoweredLocalResponseNorm(
        layer.name,
        (x,),
        output,
        size=layer.size,
        powers=powers,
        stage=requantize_sums(
            layer.name,
            x.delta * layer.bias**-layer.beta * 2.0**-POWER_BITS,
            largest_distance(x) * int(powers.max()),
            output.encoding,
            fraction_bits=x.bits - 8,
        ),
    )


def power_knots(largest: int) -> npt.NDArray[np.int64]:
    """Return the sums of squares at which the table has knots, enough for 0 .. `largest`."""
    per_octave = 1 << OCTAVE_BITS
    octaves = max(largest.bit_length() - OCTAVE_BITS, 0)
    above = [(per_octave + np.arange(per_octave, dtype=np.int64)) << n for n in range(octaves)]
    end = np.array([per_octave << octaves], np.int64)
    return np.concatenate([np.arange(per_octave, dtype=np.int64), *above, end])


LOWERINGS: Lowerings = {LocalResponseNorm: lower_local_response_norm}
