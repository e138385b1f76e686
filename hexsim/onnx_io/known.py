"""Arrays of an ONNX graph that are known before it runs, none read before it is needed.

Initialisers, constant nodes and everything computed from them alone. An array keeps its source
form here; layers get it as a `Constant` in whatever form they hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.numpy_helper

from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.halves import HALVES, widened
from hexsim.onnx_io.source import OnnxSource

Array = npt.NDArray[Any]
BUILT_IN = "hexsim.models"
"""Location of external data that the caller of `read` supplies."""
_KEPT_ELEMENTS = 4096
"""Arrays up to this size are kept once read; larger ones are kept by the layer that uses them."""


class Known:
    """One array: shape and dtype at once, elements on demand."""

    __slots__ = ("_make", "_value", "dtype", "name", "shape")

    def __init__(self, name: str, shape: Shape, dtype: str, make: Callable[[], Array]) -> None:
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self._make = make
        self._value: Array | None = None

    def read(self) -> Array:
        """Return the elements, unchecked (bounds may be infinite)."""
        if self._value is not None:
            return self._value
        value = np.asarray(self._make())
        if value.shape != self.shape:
            raise HexsimError(
                f"weight tensor '{self.name}' has shape {list(value.shape)}, "
                f"the graph says {list(self.shape)}"
            )
        if value.size <= _KEPT_ELEMENTS:
            self._value = value
        return value


def initializers(
    graph: onnx.GraphProto, source: OnnxSource, weights: Mapping[str, Callable[[], Array]]
) -> dict[str, Known]:
    """Return all initialisers of a graph of a model by name.

    `weights` makes those whose data the file leaves to the caller. Raises HexsimError for data
    that is missing and for element types that are no numbers.
    """
    return {
        tensor.name: known_tensor(tensor, tensor.name, source, weights)
        for tensor in graph.initializer
    }


def known_tensor(
    tensor: onnx.TensorProto,
    name: str,
    source: OnnxSource,
    weights: Mapping[str, Callable[[], Array]],
) -> Known:
    """Return the array that `tensor` holds, wherever its data are."""
    make = _maker(tensor, name, source, weights)
    if tensor.data_type in HALVES:
        return Known(name, tuple(tensor.dims), "float32", lambda: widened(make()))
    return Known(name, tuple(tensor.dims), dtype_name(tensor.data_type, name), make)


def dtype_name(element_type: int, name: str) -> str:
    """numpy name of an ONNX element type; HexsimError if tensor `name` holds no numbers."""
    if element_type in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING):
        raise HexsimError(f"tensor '{name}' holds no numbers; hexsim reads numeric tensors only")
    return onnx.helper.tensor_dtype_to_np_dtype(element_type).name


def _maker(
    tensor: onnx.TensorProto,
    name: str,
    source: OnnxSource,
    weights: Mapping[str, Callable[[], Array]],
) -> Callable[[], Array]:
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return lambda: onnx.numpy_helper.to_array(tensor)
    location = next((item.value for item in tensor.external_data if item.key == "location"), "")
    if location == BUILT_IN:
        if name not in weights:
            raise HexsimError(
                f"weight tensor '{name}' is made by {BUILT_IN}; load the network by its name"
            )
        return weights[name]
    folder = source.folder
    if folder is None or not (folder / location).is_file():
        raise HexsimError(
            f"{source.label} keeps weight tensor '{name}' in the file '{location}', "
            "which is not beside it"
        )
    return lambda: _read_external(tensor, folder, location)


def _read_external(tensor: onnx.TensorProto, folder: Path, location: str) -> Array:
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    try:
        return onnx.numpy_helper.to_array(copy, base_dir=str(folder))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        reason = str(error).strip().splitlines()[0]
        raise HexsimError(
            f"cannot read weight tensor '{tensor.name}' from '{folder / location}': {reason}"
        ) from None
