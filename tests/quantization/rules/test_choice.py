"""Options lead to the rules they name."""

import numpy as np
import pytest

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.rules.choice import activation_rule, weight_encoding
from hexsim.quantization.rules.cut_ranges import Enhanced, EnhancedSymmetric
from hexsim.quantization.rules.rule import MinMax, Symmetric
from hexsim.quantization.rules.weights import Adjusted, axis_encoding

WEIGHT = np.random.default_rng(8).standard_t(2, (50, 3)).astype(np.float32)
SEEN = Observation.of(WEIGHT, with_histogram=True)


@pytest.mark.parametrize(
    ("choices", "activations", "weights"),
    [
        ({}, MinMax(), MinMax().encode(SEEN)),
        ({"minimum_range": 99.0}, MinMax(8, 99.0), MinMax(8, 99.0).encode(SEEN)),
        ({"weight_bits": 4}, MinMax(), MinMax(4).encode(SEEN)),
        ({"enhanced": "both"}, Enhanced(), Enhanced().encode(SEEN)),
        ({"enhanced": "weights", "weight_bits": 4}, MinMax(), Enhanced(4).encode(SEEN)),
        ({"enhanced": "activations"}, Enhanced(), MinMax().encode(SEEN)),
        ({"adjusted_weights": True}, MinMax(), Adjusted().encode(SEEN)),
        ({"symmetric_weights": True}, MinMax(), Symmetric().encode(SEEN)),
        (
            {"symmetric_weights": True, "enhanced": "both", "weight_bits": 4},
            Enhanced(),
            EnhancedSymmetric(4).encode(SEEN),
        ),
        ({"axis_weights": True}, MinMax(), axis_encoding(WEIGHT, Symmetric)),
        (
            {"axis_weights": True, "enhanced": "weights", "weight_bits": 4},
            MinMax(),
            axis_encoding(WEIGHT, EnhancedSymmetric, 4),
        ),
    ],
)
def test_rules(
    choices: dict[str, object], activations: MinMax | Enhanced, weights: Encoding | AxisEncoding
) -> None:
    options = QuantizationOptions(**choices)  # type: ignore[arg-type]
    assert activation_rule(options) == activations
    assert weight_encoding(WEIGHT, options) == weights
