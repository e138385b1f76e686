"""Weights as a kernel multiplies by them: codes, one zero point, a step per channel.

Kernels before V65 take the unsigned codes (quantised values) as they are. From V65 on they take
signed weights, so an asymmetric tensor is rescaled per output channel c when the network is loaded:

    step_c = delta * largest_c / 127      largest_c = max |code - zero point| in the channel
    weight = round((code - zero point) * 127 / largest_c)

A channel whose weights are all zero keeps the tensor's own step. The rounding of this second
quantisation is part of the result.

16-bit codes are taken as they are; no kernel that takes signed 8-bit weights multiplies by them.
"""

from __future__ import annotations

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

_S8_LIMIT = 127
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
    widest = 8 if source.signed_weights else 16
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
    if source.signed_weights and is_rescaled(encoding):
        return signed_weights(codes, encoding)
    steps = np.full(channels, encoding.delta)
    return Weights(codes, encoding.zero_point, steps)


def is_rescaled(encoding: Encoding | AxisEncoding) -> bool:
    """True if kernels with signed weights rescale codes of this encoding."""
    return isinstance(encoding, Encoding) and not encoding.symmetric and encoding.bitwidth <= 8


def signed_weights(codes: npt.NDArray[np.integer], encoding: Encoding) -> Weights:
    """Rescale asymmetric codes to signed ones, channel by channel (rule above)."""
    rows = codes.reshape(-1, codes.shape[-1])
    extremes = np.stack([rows.min(axis=0), rows.max(axis=0)]).astype(np.int32)
    largest = np.abs(extremes - encoding.zero_point).max(axis=0)
    divisor = np.where(largest == 0, _S8_LIMIT, largest)
    signed = np.empty(rows.shape, np.int8)

    def rescale(part: slice) -> None:
        distance = rows[part].astype(np.int32) - encoding.zero_point
        signed[part] = (2 * _S8_LIMIT * distance + divisor) // (2 * divisor)

    spread(rescale, len(rows), max(1, _BLOCK // divisor.size))
    return Weights(signed.reshape(codes.shape), 0, encoding.delta * divisor / _S8_LIMIT)
