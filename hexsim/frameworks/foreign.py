"""What a file of another framework has become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import onnx

LOCATION = "hexsim.models"
"""External-data location of an initialiser whose values are in `Foreign.weights`."""


@dataclass(frozen=True)
class Foreign:
    """An ONNX model, and what makes those initialisers whose values it does not hold itself.

    `input_dims` and `output_names` are what is still to be asked of the model.
    """

    proto: onnx.ModelProto
    weights: Mapping[str, Callable[[], npt.NDArray[Any]]] = field(default_factory=dict)
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    output_names: Sequence[str] = ()
