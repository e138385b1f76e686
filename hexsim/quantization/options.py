"""What a user may choose about quantisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hexsim.quantization.encodings import MINIMUM_RANGE


@dataclass(frozen=True)
class QuantizationOptions:
    """Choices of the quantiser, with the defaults of snpe-dlc-quantize.

    `bias_bits` 8 gives a bias its own encoding; 32 stores it at the accumulator's scale.
    `minimum_range` is the smallest max - min of an encoding, in real units.
    """

    bias_bits: Literal[8, 32] = 8
    minimum_range: float = MINIMUM_RANGE
