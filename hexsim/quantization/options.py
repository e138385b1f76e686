"""The options of quantisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hexsim.errors import HexsimError, require_number
from hexsim.quantization.encodings import MINIMUM_RANGE, FloatBits

MOST_RANGE = 1e30
"""Largest value of `minimum_range`: float32 leaves no room for a wider one."""
Enhanced = Literal["none", "weights", "activations", "both"]


@dataclass(frozen=True)
class QuantizationOptions:
    """Choices of the quantiser, with the defaults of snpe-dlc-quantize.

    `enhanced` selects the tensors for the enhanced search. Weights are asymmetric unless
    `symmetric_weights`; `axis_weights` are symmetric, with one encoding per output channel;
    `adjusted_weights` widens the range instead of shifting it; `pack_4_bit_weights` stores two
    4-bit weights in a byte; `float_weights` stores float weights and biases beside their encodings,
    and fixed-point runtimes quantise them at load. `bias_bits` 8 gives a bias its own encoding; 32
    stores it at the accumulator's scale. `minimum_range` is the smallest max - min of an encoding,
    in real units. `float_bits` is the width of float tensors whose override states none,
    `float_bias_bits` the width of biases of float layers, None for the width of the layer.
    Raises HexsimError for choices that exclude each other.
    """

    enhanced: Enhanced = "none"
    adjusted_weights: bool = False
    symmetric_weights: bool = False
    axis_weights: bool = False
    activation_bits: Literal[8, 16] = 8
    weight_bits: Literal[4, 8, 16] = 8
    pack_4_bit_weights: bool = False
    bias_bits: Literal[8, 32] = 8
    minimum_range: float = MINIMUM_RANGE
    float_bits: FloatBits = 32
    float_bias_bits: FloatBits | None = None
    float_weights: bool = False

    def __post_init__(self) -> None:
        require_number("minimum_range", self.minimum_range, 0, MOST_RANGE)
        for what, bits, known in (
            ("activations", self.activation_bits, (8, 16)),
            ("weights", self.weight_bits, (4, 8, 16)),
            ("biases", self.bias_bits, (8, 32)),
            ("floats", self.float_bits, (16, 32)),
            (
                "float biases",
                32 if self.float_bias_bits is None else self.float_bias_bits,
                (16, 32),
            ),
        ):
            if bits not in known:
                *most, last = map(str, known)
                raise HexsimError(f"{what} can have {', '.join(most)} or {last} bits, not {bits}")
        if self.pack_4_bit_weights and self.weight_bits != 4:
            raise HexsimError(
                f"only 4-bit weights can be packed, these have {self.weight_bits} bits; "
                "quantise them to 4 bits or do not ask for packing"
            )
        if self.pack_4_bit_weights and self.float_weights:
            raise HexsimError(
                "packing is for codes of weights, and weights are to stay float; leave one of the "
                "two out"
            )
        if self.adjusted_weights:
            self._check_adjusted()

    def _check_adjusted(self) -> None:
        if self.weight_bits != 8:
            raise HexsimError(
                f"the adjusted mode is for 8-bit weights, not {self.weight_bits}-bit ones; "
                "leave one of the two out"
            )
        if self.symmetric_weights or self.axis_weights:
            kind = "per-channel" if self.axis_weights else "symmetric"
            raise HexsimError(
                "the adjusted mode moves the zero point of asymmetric weights, which "
                f"{kind} weights do not have; leave one of the two out"
            )
        if self.enhanced in ("weights", "both"):
            raise HexsimError(
                "weights can be quantised by the enhanced or by the adjusted mode, not by both; "
                "limit the enhanced mode to activations"
            )
