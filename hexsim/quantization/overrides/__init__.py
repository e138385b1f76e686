"""Overrides: encodings that the user gives, in a JSON file or as nodes of the ONNX file."""

from hexsim.quantization.overrides.override import (
    NO_OVERRIDES,
    FloatOverride,
    IntegerOverride,
    Override,
    Overrides,
    Range,
)

__all__ = [
    "NO_OVERRIDES",
    "FloatOverride",
    "IntegerOverride",
    "Override",
    "Overrides",
    "Range",
]
