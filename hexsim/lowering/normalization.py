"""Normalization: exact sums, a reciprocal root of 31 bits, one requantise stage.

n, S, Q  number, sum and sum of squares of x - zx among the elements that share a statistic
               deviation           mean_square     length
d              n * (x - zx) - S    n * (x - zx)    x - zx
V              n * Q - S^2         n * Q           Q
E              round(epsilon / delta_x^2 * n^2)    round(epsilon / delta_x^2), at most 2^61
W    = V + E, e the even number with 2^60 <= W * 2^e < 2^62
r    = floor(2^61 / floor(sqrt(W * 2^e)))
s    = 41 - e / 2
T    = (d * r + 2^(s - 1)) >> s, and 0 where W = 0
A    = preload + k * T, requantised with 16 fraction bits

T is d / sqrt(W) with 20 fraction bits; k = round(scale / unit) with unit = largest |scale| / 32767.
The step of the input cancels, except in epsilon. If a shift does not fit the sum, unit is larger
(hexsim.lowering.headroom).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.layers import Normalization
from hexsim.layers.normalization import NormalizationKind
from hexsim.lowering.headroom import fitting_steps
from hexsim.lowering.lowered_call import LoweredCall, Operand, Real
from hexsim.lowering.requantize import Requantize, requantize, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource

ROOT_BITS = 31
"""Bits of the root and of its reciprocal (our choice: what one word holds)."""
NORMAL_BITS = 20
"""Fraction bits of a normalised value (our choice: finer than a 16-bit code of 32 deviations)."""
FRACTION_BITS = 16
"""Fraction bits of the sum that is requantised: k has 15 bits and T up to 31."""
_LARGEST_EPSILON = 1 << 61
_LARGEST_DISTANCE = 1 << 30
"""A limit that lets d * r and n * Q fit an int64."""
_S16_LIMIT = 32767


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredNormalization(LoweredCall):
    """`factors` and the preloads of `stage` have an entry for each element of `spread`.

    That is the shape of scale and shift, which broadcasts to the input.
    """

    kind: NormalizationKind
    axes: tuple[int, ...]
    epsilon: int
    spread: Shape
    factors: npt.NDArray[np.int16]
    stage: Requantize


def lower_normalization(layer: Normalization, source: QuantizedSource) -> LoweredNormalization:
    """Turn a normalisation into integers; HexsimError if its sums might not fit 64 bits."""
    call = source.operands(layer)
    (x,) = call.inputs
    count = layer.count(x.shape)
    if count * x.encoding.steps >= _LARGEST_DISTANCE:
        raise HexsimError(
            f"layer '{layer.name}' normalises {count} elements of {x.bits} bits at a time, more "
            "than the integer kernel adds up; run the layer on the cpu"
        )
    scale, shift = _real_or(layer.scale, 1.0, source), _real_or(layer.shift, 0.0, source)
    spread = np.broadcast_shapes(scale.shape, shift.shape)
    unit = (float(np.abs(scale).max()) or 1.0) / _S16_LIMIT
    bias = np.broadcast_to(shift, spread).reshape(-1)
    unit = _fitting_unit(unit, count, call.output, bias)
    factors = np.broadcast_to(rounded(scale / unit), spread)
    squares = 1 if layer.kind == "length" else count**2
    # A floor below the step of the codes changes no result but 0 / 0, which an epsilon makes 0 too.
    epsilon = (layer.epsilon + layer.floor**2) * squares / x.delta**2
    return LoweredNormalization(
        *call,
        kind=layer.kind,
        axes=layer.axes,
        epsilon=int(min(epsilon + 0.5, float(_LARGEST_EPSILON))),
        spread=spread,
        factors=factors.reshape(-1).astype(np.int16),
        stage=requantize(
            np.full(bias.shape, unit * 2.0**-NORMAL_BITS),
            call.output.encoding,
            layer.clamp,
            bias,
            FRACTION_BITS,
        ),
    )


def _fitting_unit(unit: float, count: int, output: Operand, bias: Real) -> float:
    """Return the unit of the factors, a larger one if a shift does not fit the sum in it.

    A normalised value is at most the root of the number of elements that share its statistic.
    """
    sums = _S16_LIMIT * (math.sqrt(count) + 1) * 2.0**NORMAL_BITS
    steps = np.full(bias.shape, unit * 2.0**-NORMAL_BITS)
    fitting = fitting_steps(steps, sums, output.encoding, bias, FRACTION_BITS)
    return unit * float((fitting / steps).max())


def _real_or(name: str | None, value: float, source: QuantizedSource) -> Real:
    return np.array([value]) if name is None else source.real(name)


LOWERINGS: Lowerings = {Normalization: lower_normalization}
