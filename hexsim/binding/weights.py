"""Weights as a kernel multiplies by them: 8-bit codes, one zero point, a step per channel.

Kernels before V65 take the unsigned codes as they are. From V65 on they take signed weights, so
an asymmetric tensor is rescaled per output channel c when the network is loaded:

    step_c = delta * largest_c / 127      largest_c = max |code - zero point| in the channel
    weight = round((code - zero point) * 127 / largest_c)

A channel whose weights are all zero keeps the tensor's own step. The rounding of this second
quantisation is part of the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Real
from hexsim.binding.source import Source
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer
from hexsim.quantization.encodings import AxisEncoding, Encoding

_S8_LIMIT = 127


@dataclass(frozen=True, eq=False)
class Weights:
    """Codes (u8 or s8, last axis the output channel), their zero point, real units per code."""

    codes: npt.NDArray[np.uint8] | npt.NDArray[np.int8]
    zero_point: int
    steps: Real


def bind_weights(name: str, layer: Layer, source: Source) -> Weights:
    """Return the weights `name` of `layer`; raises HexsimError if they have no 8-bit encoding."""
    encoding = source.model.parameters.get(name)
    if encoding is None or encoding.bitwidth > 8:
        found = "no encoding" if encoding is None else f"{encoding.bitwidth}-bit codes"
        raise HexsimError(
            f"layer '{layer.name}': weight '{name}' has {found}; "
            "quantise weights to 8 bits or fewer"
        )
    codes = source.model.codes(name)
    channels = codes.shape[-1]
    if isinstance(encoding, AxisEncoding):
        return Weights(codes.astype(np.int8), 0, encoding.deltas)
    if encoding.symmetric:
        return Weights(codes.astype(np.int8), 0, np.full(channels, encoding.delta))
    if source.signed_weights and is_rescaled(encoding):
        return signed_weights(codes, encoding)
    return Weights(codes.astype(np.uint8), encoding.zero_point, np.full(channels, encoding.delta))


def is_rescaled(encoding: Encoding | AxisEncoding) -> bool:
    """True if kernels with signed weights rescale codes of this encoding."""
    return isinstance(encoding, Encoding) and not encoding.symmetric and encoding.bitwidth <= 8


def signed_weights(codes: npt.NDArray[np.integer], encoding: Encoding) -> Weights:
    """Rescale asymmetric codes to signed ones, channel by channel (rule above)."""
    distance = codes.astype(np.int32) - encoding.zero_point
    largest = np.abs(distance).max(axis=tuple(range(distance.ndim - 1)))
    divisor = np.where(largest == 0, _S8_LIMIT, largest)
    signed = (2 * _S8_LIMIT * distance + divisor) // (2 * divisor)
    return Weights(signed.astype(np.int8), 0, encoding.delta * divisor / _S8_LIMIT)
