"""An override that gives a width and no range; the range is calibrated as without an override.

The guide's full override file for mixed precision has such entries: bitwidth and dtype of every
tensor, without min and max (documented as the file to begin with; that the ranges of its integers
are calibrated is our reading).
"""

from dataclasses import dataclass, replace
from typing import Literal, cast

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.options import QuantizationOptions


@dataclass(frozen=True)
class Unranged:
    """A code of `bits` bits; `symmetric` and `per_channel` if the override requests this."""

    bits: int
    symmetric: bool = False
    per_channel: bool = False

    def for_activation(self, options: QuantizationOptions) -> QuantizationOptions:
        """Return the options with these bits for activations."""
        return replace(options, activation_bits=cast(Literal[8, 16], self.bits))

    def for_weight(self, options: QuantizationOptions) -> QuantizationOptions:
        """Return the options with these bits and signs for weights, adjusted only where allowed."""
        symmetric = self.symmetric or options.symmetric_weights
        axis = self.per_channel or options.axis_weights
        adjusted = options.adjusted_weights and self.bits == 8 and not symmetric and not axis
        return replace(
            options,
            weight_bits=cast(Literal[4, 8, 16], self.bits),
            pack_4_bit_weights=False,  # packing does not change the codes
            symmetric_weights=symmetric,
            axis_weights=axis,
            adjusted_weights=adjusted,
        )

    def stored(self, encoding: Encoding) -> Encoding:
        """Return a calibrated encoding; if `symmetric`, around zero and stored unsigned."""
        if not self.symmetric or encoding.min >= 0:  # unsigned symmetric keeps all its codes
            return encoding
        half = 1 << (self.bits - 1)
        if encoding.offset == -half:
            return encoding
        around = Encoding.symmetric_of(max(-encoding.min, encoding.max), self.bits)
        return replace(around, symmetric=False)
