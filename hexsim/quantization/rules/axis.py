"""Per-channel ("axis") weights: each output channel has a symmetric encoding of its own.

A channel needs no absolute minimum range, since scaling it down by a constant is harmless, but it
needs a relative one: batch-norm folding leaves dead channels with weights of 1e-12 and less. So
the step of a channel is at least 2^-12 of the step for the entire tensor. Weights below half of
that step become zero. If a step is still too small for bias and zero point in the accumulator,
kernels take a larger one (hexsim.lowering.headroom).
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.rule import EncodingRule
from hexsim.quantization.rules.symmetric import Symmetric

SPREAD = 4096
"""Largest ratio between the steps of a tensor and of its channels.

Our choice: the multiplier of such a channel keeps the precision of an 8-bit code (assumed)."""


def axis_encoding(
    weight: npt.NDArray[np.generic],
    rule: Callable[[int, float], EncodingRule],
    bits: int = 8,
    minimum_range: float = MINIMUM_RANGE,
) -> AxisEncoding:
    """Return one encoding per output channel, the last axis of `weight`.

    `rule` makes a symmetric rule of its bits and its smallest range.
    """
    limit = Symmetric(bits, minimum_range).limit(Observation.of(weight))
    chosen = rule(bits, 2 * limit / SPREAD)
    channels = np.ascontiguousarray(weight.reshape(-1, weight.shape[-1]).T)
    histograms = chosen.needs_histogram
    return AxisEncoding(
        tuple(
            chosen.encode(Observation.of(channel, with_histogram=histograms))
            for channel in channels
        )
    )
