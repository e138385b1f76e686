"""The result of converting a file of another framework."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy.typing as npt
import onnx

from hexsim.records import dataclass, field

Dims = Mapping[str, Sequence[int]]
"""Shapes of inputs by name."""
LOCATION = "hexsim.models"
"""External-data location of an initialiser whose values are in `Foreign.weights`."""


@dataclass(frozen=True)
class Foreign:
    """An ONNX model, and functions that make the initialisers whose values it does not contain.

    The reader of the model still has to apply `input_dims` and `output_names`.
    """

    proto: onnx.ModelProto
    weights: Mapping[str, Callable[[], npt.NDArray[Any]]] = field(default_factory=dict)
    input_dims: Dims = field(default_factory=dict)
    output_names: Sequence[str] = ()
