"""Selects the encoding rules for the options."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.options import Calibration, QuantizationOptions, Schema
from hexsim.quantization.rules.cut_ranges import (
    Enhanced,
    EnhancedSymmetric,
    Entropy,
    MeanSquaredError,
    Percentile,
)
from hexsim.quantization.rules.rule import (
    EncodingRule,
    MinMax,
    Symmetric,
    UnsignedCodes,
    UnsignedSymmetric,
)
from hexsim.quantization.rules.weights import Adjusted, axis_encoding


def activation_rule(options: QuantizationOptions) -> EncodingRule:
    """Return the rule for activations, and for constants that are operands."""
    calibration, bits = options.calibration_of_activations, options.activation_bits
    unsigned = _rule(calibration, options, bits, symmetric=False)
    if options.activation_schema == "asymmetric":
        return unsigned
    signed = _rule(calibration, options, bits, symmetric=True)
    if options.activation_schema == "unsignedsymmetric":
        signed = UnsignedSymmetric(signed, unsigned)
    return UnsignedCodes(signed)


def weight_encoding(
    weight: npt.NDArray[np.generic], options: QuantizationOptions
) -> Encoding | AxisEncoding:
    """Return the encoding of `weight`, whose last axis is the output channel."""
    calibration, bits = options.calibration_of_weights, options.weight_bits
    minimum_range = options.minimum_range
    if options.axis_weights:
        symmetric = _maker(calibration, options, symmetric=True)
        return axis_encoding(weight, symmetric, bits, minimum_range)
    rule: EncodingRule
    if options.adjusted_weights:
        rule = Adjusted(minimum_range)
    elif options.symmetric_weights:
        rule = _rule(calibration, options, bits, symmetric=True)
        if options.unsigned_weights:
            rule = UnsignedSymmetric(rule, _rule(calibration, options, bits, symmetric=False))
    else:
        rule = _rule(calibration, options, bits, symmetric=False)
    return encode(rule, weight)


def _rule(
    calibration: Calibration, options: QuantizationOptions, bits: int, *, symmetric: bool
) -> EncodingRule:
    return _maker(calibration, options, symmetric=symmetric)(bits, options.minimum_range)


def _maker(
    calibration: Calibration, options: QuantizationOptions, *, symmetric: bool
) -> Callable[[int, float], EncodingRule]:
    """Return what makes the rule of a calibration from its bits and its smallest range."""
    if calibration == "min-max":
        return Symmetric if symmetric else MinMax
    if calibration == "sqnr":
        return EnhancedSymmetric if symmetric else Enhanced
    if calibration == "percentile":
        return partial(Percentile, symmetric=symmetric, percentile=options.percentile)
    return partial(Entropy if calibration == "entropy" else MeanSquaredError, symmetric=symmetric)


def encode(rule: EncodingRule, values: npt.NDArray[np.generic]) -> Encoding:
    """Return the encoding that `rule` gives to a constant."""
    return rule.encode(Observation.of(values, with_histogram=rule.needs_histogram))


def activation_words(options: QuantizationOptions) -> str:
    """Name the rule for activations."""
    words = [_calibration_words(options.calibration_of_activations, options)]
    if options.activation_schema != "asymmetric":
        words.append(_SCHEMA_WORDS[options.activation_schema])
    return ", ".join(words)


def weight_words(options: QuantizationOptions) -> str:
    """Name the rule for weights."""
    if options.adjusted_weights:
        return "adjusted"
    is_plain = options.calibration_of_weights == "min-max"
    words = [] if is_plain else [_calibration_words(options.calibration_of_weights, options)]
    if options.axis_weights:
        words.append("symmetric per channel")
    elif options.symmetric_weights:
        schema: Schema = "unsignedsymmetric" if options.unsigned_weights else "symmetric"
        words.append(_SCHEMA_WORDS[schema])
    elif is_plain:
        words.append("min to max")
    return ", ".join(words)


_SCHEMA_WORDS: Mapping[Schema, str] = {
    "symmetric": "symmetric",
    "unsignedsymmetric": "unsigned symmetric",
}
_CALIBRATION_WORDS: Mapping[Calibration, str] = {
    "min-max": "min to max",
    "sqnr": "enhanced",
    "mse": "MSE",
}


def _calibration_words(calibration: Calibration, options: QuantizationOptions) -> str:
    if calibration == "percentile":
        return f"percentile {options.percentile:g}"
    return _CALIBRATION_WORDS.get(calibration, calibration)
