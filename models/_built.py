"""BuiltModel: an ONNX model whose large weights are promises, and how to keep them.

A timing run needs the shape of a weight, never its numbers, and VGG-16 has 138 million. So a
large initialiser is a tensor with a name, a shape and no bytes (stored "externally" at
`LOCATION`), and `BuiltModel.weights` has the function that makes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.files.atomic_write import write_bytes
from hexsim.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import onnx

    FloatArray = npt.NDArray[np.float32]

LOCATION = "hexsim.models"
"""External-data location of an initialiser whose values are in `BuiltModel.weights`."""


@dataclass(frozen=True)
class BuiltModel:
    """A model without its large weights, and the functions that make them, by initialiser."""

    proto: onnx.ModelProto
    weights: Mapping[str, Callable[[], FloatArray]]


def materialise(built: BuiltModel) -> onnx.ModelProto:
    """Return a self-contained copy of the model: every weight made and stored inside."""
    import onnx

    proto = onnx.ModelProto()
    proto.CopyFrom(built.proto)
    for tensor in proto.graph.initializer:
        if tensor.name in built.weights:
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = built.weights[tensor.name]().astype("<f4", copy=False).tobytes()
    return proto


def write(built: BuiltModel, path: str | os.PathLike[str]) -> None:
    """Write the model with its weights to `path`; the file appears whole or not at all.

    Raises HexsimError if the place cannot be written.
    """
    write_bytes(Path(path), materialise(built).SerializeToString())
