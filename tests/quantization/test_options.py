"""Choices that exclude each other are refused in one sentence, all others are taken."""

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.options import QuantizationOptions


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"weight_bits": 6}, "weights can have 4, 8 or 16 bits, not 6"),
        ({"activation_bits": 4}, "activations can have 8 or 16 bits, not 4"),
        ({"bias_bits": 16}, "biases can have 8 or 32 bits, not 16"),
        ({"minimum_range": 0}, "minimum_range is a number from 1e-30 to 1e"),
        ({"pack_4_bit_weights": True}, "only 4-bit weights can be packed, these have 8 bits"),
        ({"adjusted_weights": True, "weight_bits": 4}, "for 8-bit weights, not 4-bit"),
        ({"adjusted_weights": True, "weight_bits": 16}, "for 8-bit weights, not 16-bit"),
        ({"adjusted_weights": True, "symmetric_weights": True}, "which symmetric weights do not"),
        ({"adjusted_weights": True, "axis_weights": True}, "which per-channel weights do not"),
        ({"adjusted_weights": True, "enhanced": "both"}, "limit the enhanced mode to activations"),
        ({"adjusted_weights": True, "enhanced": "weights"}, "not by both"),
    ],
)
def test_refusals(choices: dict[str, object], sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        QuantizationOptions(**choices)  # type: ignore[arg-type]


def test_combinations_that_make_sense() -> None:
    QuantizationOptions(adjusted_weights=True, enhanced="activations", bias_bits=32)
    QuantizationOptions(axis_weights=True, symmetric_weights=True, enhanced="both", weight_bits=4)
