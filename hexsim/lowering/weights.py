"""Weights as a kernel multiplies by them: codes, one zero point, a step per channel.

Most kernels take the unsigned codes (quantised values) q as they are. Some dense convolutions of
V65 and V66 multiply by signed weights (hexsim.datasheets.signed_kernels), so an asymmetric tensor
with zero point z becomes signed when the network is loaded. Per output channel, with the smallest
and the largest code of the channel,

    K = floor(32895 / (z - smallest))    if z >= 130 and z - smallest > 129
    K = floor(32639 / (largest - z))     if z <= 126 and largest - z > 128
    K = 256                              otherwise
    weight = clamp(((q - z) * K + 128) >> 8, -128, 127)
    step = delta * 256 / K

So a channel is scaled down only if it does not fit, and a distance that is one too large is
clamped. These changes of the weights are part of the result.

16-bit codes are taken as they are; no kernel that takes signed 8-bit weights multiplies by them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer
from hexsim.lowering.lowered_call import Real
from hexsim.lowering.source import QuantizedSource
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.threads.cores import spread

_S8_MIN, _S8_MAX = -128, 127
_ONE = 256
"""Factor of a channel that is not scaled."""
_LOWEST, _HIGHEST = 128 * _ONE + 127, 127 * _ONE + 127
"""Largest products of factor and distance, below and above the zero point, that a shift by 8 with
rounding brings into a signed byte."""
_BLOCK = 1 << 15
"""Number of weights whose distances are in the cache at the same time."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Codes (last axis the output channel), their zero point, real units per code.

    Codes are u8, u16, s8 or s16; signed ones have zero point 0.
    """

    codes: npt.NDArray[np.integer[Any]]
    zero_point: int
    steps: Real

    @property
    def bits(self) -> int:
        """Return the width of the codes that a kernel reads, 8 or 16."""
        return 8 * self.codes.dtype.itemsize


def lower_weights(name: str, layer: Layer, source: QuantizedSource) -> Weights:
    """Return the weights `name` of `layer`; raises HexsimError if no kernel takes them."""
    encoding = source.model.parameters.get(name)
    widest = source.widest_weights
    if encoding is None or encoding.bitwidth > widest:
        description = "no encoding" if encoding is None else f"{encoding.bitwidth}-bit codes"
        raise HexsimError(
            f"layer '{layer.name}': weight '{name}' has {description}; "
            f"quantise weights to {widest} bits or fewer"
        )
    codes = source.model.codes(name).astype(encoding.dtype, copy=False)
    channels = codes.shape[-1]
    if isinstance(encoding, AxisEncoding):
        return Weights(codes, 0, encoding.deltas)
    if encoding.symmetric:
        return Weights(codes, 0, np.full(channels, encoding.delta))
    if layer.name in source.signed and becomes_signed(encoding):
        return signed_weights(codes, encoding)
    steps = np.full(channels, encoding.delta)
    return Weights(codes, encoding.zero_point, steps)


def becomes_signed(encoding: Encoding | AxisEncoding) -> bool:
    """Return whether kernels with signed weights change codes of this encoding to signed ones."""
    return isinstance(encoding, Encoding) and not encoding.symmetric and encoding.bitwidth <= 8


def signed_weights(codes: npt.NDArray[np.integer], encoding: Encoding) -> Weights:
    """Return asymmetric codes as signed ones, channel by channel (rule above)."""
    rows = codes.reshape(-1, codes.shape[-1])
    zero_point = encoding.zero_point
    below = zero_point - rows.min(axis=0).astype(np.int32)
    above = rows.max(axis=0).astype(np.int32) - zero_point
    factors = np.full(below.shape, _ONE, np.int32)
    if zero_point >= _S8_MAX + 3:
        factors = np.where(below > 1 - _S8_MIN, _LOWEST // np.maximum(below, 1), factors)
    elif zero_point <= _S8_MAX - 1:
        factors = np.where(above > 1 + _S8_MAX, _HIGHEST // np.maximum(above, 1), factors)
    signed = np.empty(rows.shape, np.int8)

    def make_signed(part: slice) -> None:
        scaled = ((rows[part].astype(np.int32) - zero_point) * factors + _ONE // 2) >> 8
        signed[part] = scaled.clip(_S8_MIN, _S8_MAX)

    spread(make_signed, len(rows), max(1, _BLOCK // factors.size))
    return Weights(signed.reshape(codes.shape), 0, encoding.delta * (_ONE / factors))
