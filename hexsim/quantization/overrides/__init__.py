"""Overrides: encodings that the user gives, in a JSON file or as nodes of the ONNX file."""

from hexsim.quantization.overrides.override import (
    NO_OVERRIDES,
    BlockOverride,
    FloatOverride,
    IntegerOverride,
    Override,
    Overrides,
    Range,
    TensorOverride,
)

__all__ = [
    "NO_OVERRIDES",
    "BlockOverride",
    "FloatOverride",
    "IntegerOverride",
    "Override",
    "Overrides",
    "Range",
    "TensorOverride",
]
