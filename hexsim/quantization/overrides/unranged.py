"""An override that gives a width and no range: the range is calibrated as if nobody had spoken.

The guide's full override file for mixed precision has such entries: bitwidth and dtype of every
tensor, without min and max (documented as the file to begin with; that its integers are calibrated
is our reading, as there is nothing else that they could mean).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, cast

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import numbers
from hexsim.quantization.overrides.override import Range


@dataclass(frozen=True)
class Unranged:
    """A code of `bits` bits; `symmetric` if that was said, with a step for each channel or not."""

    bits: int
    symmetric: bool = False
    per_channel: bool = False

    def for_activation(self, options: QuantizationOptions) -> QuantizationOptions:
        """The options, with these bits for activations."""
        return replace(options, activation_bits=cast(Literal[8, 16], self.bits))

    def for_weight(self, options: QuantizationOptions) -> QuantizationOptions:
        """The options, with these bits and signs for weights; adjusted ones where that can be."""
        symmetric = self.symmetric or options.symmetric_weights
        axis = self.per_channel or options.axis_weights
        adjusted = options.adjusted_weights and self.bits == 8 and not symmetric and not axis
        return replace(
            options,
            weight_bits=cast(Literal[4, 8, 16], self.bits),
            pack_4_bit_weights=False,  # how codes are stored, which changes none
            symmetric_weights=symmetric,
            axis_weights=axis,
            adjusted_weights=adjusted,
        )

    def stored(self, encoding: Encoding) -> Encoding:
        """What was calibrated; with steps around zero, stored unsigned, if that was said."""
        if not self.symmetric or encoding.min >= 0:  # unsigned symmetric keeps all its codes
            return encoding
        around, _ = numbers.symmetric_limit(Range(encoding.min, encoding.max), self.bits, "")
        return replace(around, symmetric=False)
