"""Selects the encoding rules for the options."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.rules.adjusted import Adjusted
from hexsim.quantization.rules.axis import axis_encoding
from hexsim.quantization.rules.enhanced import Enhanced, EnhancedSymmetric
from hexsim.quantization.rules.min_max import MinMax
from hexsim.quantization.rules.rule import EncodingRule
from hexsim.quantization.rules.symmetric import Symmetric


def activation_rule(options: QuantizationOptions) -> EncodingRule:
    """Return the rule for activations, and for constants that are operands."""
    if options.enhanced in ("activations", "both"):
        return Enhanced(options.activation_bits, options.minimum_range)
    return MinMax(options.activation_bits, options.minimum_range)


def weight_encoding(
    weight: npt.NDArray[np.generic], options: QuantizationOptions
) -> Encoding | AxisEncoding:
    """Return the encoding of `weight`, whose last axis is the output channel."""
    search = options.enhanced in ("weights", "both")
    bits, minimum_range = options.weight_bits, options.minimum_range
    symmetric = EnhancedSymmetric if search else Symmetric
    if options.axis_weights:
        return axis_encoding(weight, symmetric, bits, minimum_range)
    rule: EncodingRule
    if options.adjusted_weights:
        rule = Adjusted(minimum_range)
    elif options.symmetric_weights:
        rule = symmetric(bits, minimum_range)
    else:
        rule = (Enhanced if search else MinMax)(bits, minimum_range)
    return encode(rule, weight)


def encode(rule: EncodingRule, values: npt.NDArray[np.generic]) -> Encoding:
    """Return the encoding that `rule` gives to a constant."""
    return rule.encode(Observation.of(values, with_histogram=rule.needs_histogram))


def activation_words(options: QuantizationOptions) -> str:
    """Name the rule for activations."""
    return "enhanced" if options.enhanced in ("activations", "both") else "min to max"


def weight_words(options: QuantizationOptions) -> str:
    """Name the rule for weights."""
    if options.adjusted_weights:
        return "adjusted"
    search = options.enhanced in ("weights", "both")
    words = ["enhanced"] if search else []
    if options.axis_weights:
        words.append("symmetric per channel")
    elif options.symmetric_weights:
        words.append("symmetric")
    elif not search:
        words.append("min to max")
    return ", ".join(words)
