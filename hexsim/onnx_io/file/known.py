"""Arrays of an ONNX graph that are known before it runs, read when they are needed.

They are initialisers, constant nodes and everything computed from these alone. An array has the
axis order of the file here; layers get it as a `Constant` in their own form.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
import onnx

from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.onnx_io.file.stored_tensors import (
    FLOAT16_TYPES,
    Array,
    array_of,
    dtype_name,
    external_file,
    read_external,
    require_data,
    widened,
)

__all__ = ["BUILT_IN", "Array", "Known", "dtype_name", "initializers", "known_tensor"]

BUILT_IN = "hexsim.models"
"""Location of external data that the caller of `read` passes."""
_CACHED_ELEMENTS = 4096
"""Arrays up to this size are cached when read. Larger ones are cached by the layer that uses them,
and here if several nodes compute with them."""


class Known:
    """One array: its shape and dtype, and its elements on demand.

    `steps` is the length of the chain of arrays that are not cached and computed to read it.
    """

    __slots__ = ("_make", "_value", "dtype", "is_cached", "name", "shape", "steps")

    def __init__(
        self,
        name: str,
        shape: Shape,
        dtype: str,
        make: Callable[[], Array],
        *,
        is_cached: bool = False,
        steps: int = 0,
    ) -> None:
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.is_cached = is_cached or math.prod(shape) <= _CACHED_ELEMENTS
        self.steps = steps
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
        if self.is_cached:
            self._value = value
            self.steps = 0
        return value


def initializers(
    graph: onnx.GraphProto, source: OnnxSource, weights: Mapping[str, Callable[[], Array]]
) -> dict[str, Known]:
    """Return all initialisers of a graph of a model by name.

    `weights` makes those whose data the file does not contain. Raises HexsimError for missing data
    and for element types that are not numeric.
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
    """Return the array of `tensor`, whose data may be in the file, beside it or in `weights`."""
    require_data(tensor, name)
    make = _maker(tensor, name, source, weights)
    if tensor.data_type in FLOAT16_TYPES:
        return Known(name, tuple(tensor.dims), "float32", lambda: widened(make()))
    return Known(name, tuple(tensor.dims), dtype_name(tensor.data_type, name), make)


def _maker(
    tensor: onnx.TensorProto,
    name: str,
    source: OnnxSource,
    weights: Mapping[str, Callable[[], Array]],
) -> Callable[[], Array]:
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return lambda: array_of(tensor, name)
    if any(item.key == "location" and item.value == BUILT_IN for item in tensor.external_data):
        if name not in weights:
            raise HexsimError(
                f"weight tensor '{name}' is made by {BUILT_IN}; load the network by its name"
            )
        return weights[name]
    path = external_file(tensor, name, source.path, source.label)
    return lambda: read_external(tensor, name, path)
