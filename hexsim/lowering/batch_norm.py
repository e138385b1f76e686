"""BatchNorm that is not part of a convolution: a signed 16-bit factor and a shift per channel.

factor = round(scale / step), step = largest |scale| / 32767; acc = preload + factor * (x - zx),
where the preload holds the shift at the accumulator's step delta_x * step. If the shift of a
channel does not fit the accumulator in that step, its step is larger (hexsim.lowering.headroom).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.layers import BatchNorm
from hexsim.lowering.headroom import fitting_steps, largest_distance
from hexsim.lowering.lowered_call import LoweredCall
from hexsim.lowering.requantize import Requantize, requantize, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource

_S16_LIMIT = 32767


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredBatchNorm(LoweredCall):
    """`factors` and `stage` have one entry per channel of the last stored axis."""

    factors: npt.NDArray[np.int16]
    stage: Requantize


def lower_batch_norm(layer: BatchNorm, source: QuantizedSource) -> LoweredBatchNorm:
    """Turn a batch norm into integers."""
    inputs, output = source.operands(layer)
    (x,) = inputs
    scale, shift = source.real(layer.scale), source.real(layer.shift)
    step = (float(np.abs(scale).max()) or 1.0) / _S16_LIMIT
    steps = np.full(scale.shape, x.delta * step)
    sums = largest_distance(x) * np.abs(rounded(scale / step))
    fitting = fitting_steps(steps, sums, output.encoding, shift, x.bits - 8)
    return LoweredBatchNorm(
        layer=layer.name,
        inputs=inputs,
        output=output,
        factors=rounded(scale / (step * (fitting / steps))).astype(np.int16),
        stage=requantize(fitting, output.encoding, layer.clamp, shift, x.bits - 8),
    )


LOWERINGS: Lowerings = {BatchNorm: lower_batch_norm}
