"""Checks that the data of a tensor in a file fit its shape, and reads them as an array.

The data are in the file itself, raw or as lists of numbers, or in a file beside it. Their size is
checked when the graph is read, and the numbers are read when they are needed. A file of float16 or
bfloat16 is read as one of float32, in inputs, outputs, attributes and constants: only the runtime
decides what is rounded to float16.
"""

import math
import re
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.numpy_helper
from onnx import numpy_helper

from hexsim.errors import HexsimError
from hexsim.graph.domains import MOST_AXES
from hexsim.onnx_io.file.node import subgraphs

Array = npt.NDArray[Any]

_BITS = {"FLOAT": 32, "DOUBLE": 64, "BOOL": 8}
"""Bits of an element, for types without a number in their names."""
_LISTS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def dtype_name(element_type: int, name: str) -> str:
    """Return the numpy name of an element type; HexsimError if tensor `name` is not numeric."""
    if element_type in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING):
        raise HexsimError(f"tensor '{name}' holds no numbers; hexsim reads numeric tensors only")
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(element_type)
    except KeyError:
        raise HexsimError(
            f"tensor '{name}' has element type {element_type}, which the installed onnx does not "
            "know; upgrade onnx, or export the model again"
        ) from None
    if dtype.kind == "c":
        raise HexsimError(f"tensor '{name}' holds complex numbers; hexsim reads real ones only")
    return dtype.name


def require_data(tensor: onnx.TensorProto, name: str) -> None:
    """Raise HexsimError if the data of `tensor` are in the file and do not fit its shape."""
    dims = list(tensor.dims)
    dtype_name(tensor.data_type, name)
    if any(size < 0 for size in dims) or len(dims) > MOST_AXES:
        raise HexsimError(
            f"weight tensor '{name}' has the shape {_text(dims)}, which no array has; export the "
            "model again"
        )
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return
    if tensor.HasField("raw_data"):
        count, needed, unit = len(tensor.raw_data), _bytes(tensor), "bytes"
    else:
        count = sum(len(getattr(tensor, field)) for field in _LISTS)
        needed, unit = math.prod(dims), "numbers"
        if _bits(tensor.data_type) < 8:  # packed, several in one number
            needed = -(-needed * _bits(tensor.data_type) // 8)
    if count != needed:
        raise HexsimError(
            f"weight tensor '{name}' holds {count} {unit}, and its shape {_text(dims)} of "
            f"{onnx.TensorProto.DataType.Name(tensor.data_type)} "
            f"needs {needed}; export the model again"
        )


def array_of(tensor: onnx.TensorProto, name: str) -> Array:
    """Return the array of a tensor whose data are in the file; HexsimError if they are wrong."""
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, OverflowError, NotImplementedError):
        raise HexsimError(
            f"weight tensor '{name}' does not hold its data in the form of its element type; "
            "export the model again"
        ) from None


def external_file(tensor: onnx.TensorProto, name: str, model: Path | None, label: str) -> Path:
    """Return the file beside the file `model` that contains `tensor`.

    Raises HexsimError if it is missing or too short, or if it is in another folder, even by a
    symbolic link.
    """
    location = _entries(tensor).get("location", "")
    inside = PurePosixPath(location)
    if inside.is_absolute() or ".." in inside.parts or "\0" in location:
        raise HexsimError(
            f"{label} keeps weight tensor '{name}' in '{location}', which is not in its folder; "
            "put the weights beside the model and export it with a relative location"
        )
    if model is None or not (model.parent / location).is_file():
        raise HexsimError(
            f"{label} keeps weight tensor '{name}' in the file '{location}', which is not beside it"
        )
    path = model.parent / location
    if not _is_beside(path, model):
        raise HexsimError(
            f"{label} keeps weight tensor '{name}' in '{location}', a symbolic link to "
            f"'{path.resolve()}', which is not in its folder; put the weights themselves there"
        )
    _extent(tensor, name, path)
    return path


def _is_beside(path: Path, model: Path) -> bool:
    """True if `path`, with links resolved, is in the folder of `model`.

    In a cache of downloads both are links; then the targets of the links are in one folder.
    """
    target = path.resolve()
    return any(map(target.is_relative_to, (model.parent.resolve(), model.resolve().parent)))


def read_external(tensor: onnx.TensorProto, name: str, path: Path) -> Array:
    """Return the array of a tensor whose data are in the file `path`."""
    start, size = _extent(tensor, name, path)
    loaded = onnx.TensorProto(name=name, data_type=tensor.data_type, dims=tensor.dims)
    try:
        with path.open("rb") as file:
            file.seek(start)
            loaded.raw_data = file.read(size)
    except OSError as error:
        raise _unreadable(name, path, str(error.strerror)) from None
    return array_of(loaded, name)


def _extent(tensor: onnx.TensorProto, name: str, path: Path) -> tuple[int, int]:
    entries, needed = _entries(tensor), _bytes(tensor)
    try:
        start, size = int(entries.get("offset", 0)), int(entries.get("length", needed))
    except ValueError:
        start = size = -1
    if start < 0 or size != needed:
        raise _unreadable(
            name, path, f"its offset or length is wrong; its shape needs {needed} bytes"
        )
    length = path.stat().st_size
    if start + size > length:
        raise _unreadable(name, path, f"it needs {start + size} bytes, and the file has {length}")
    return start, size


def _unreadable(name: str, path: Path, reason: str) -> HexsimError:
    return HexsimError(f"cannot read weight tensor '{name}' from '{path}': {reason}")


def _entries(tensor: onnx.TensorProto) -> dict[str, str]:
    entries = ((item.key, item.value) for item in tensor.external_data)
    return {key: value for key, value in entries if isinstance(value, str)}


def _bytes(tensor: onnx.TensorProto) -> int:
    bits: int = math.prod(tensor.dims) * _bits(tensor.data_type)
    return -(-bits // 8)


def _bits(element_type: int) -> int:
    name = onnx.TensorProto.DataType.Name(element_type)
    digits: re.Match[str] | None = re.search(r"\d+", name)
    return _BITS[name] if digits is None else int(digits[0])


def _text(dims: list[int]) -> str:
    return f"[{', '.join(map(str, dims[:8]))}{', ...' if len(dims) > 8 else ''}]"


FLOAT16_TYPES = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
_TYPES = ("to", "dtype", "output_dtype")
"""Attributes that name an element type."""


def has_float16(graph: onnx.GraphProto) -> bool:
    """True if a tensor of `graph` has a 16-bit float type."""
    values = (*graph.input, *graph.output, *graph.value_info)
    return (
        any(tensor.data_type in FLOAT16_TYPES for tensor in graph.initializer)
        or any(value.type.tensor_type.elem_type in FLOAT16_TYPES for value in values)
        or any(_has_float16(node) for node in graph.node)
    )


def as_float32(graph: onnx.GraphProto) -> onnx.GraphProto:
    """Return a copy of `graph` with float32 types, except for its initialisers."""
    changed = onnx.GraphProto()
    changed.CopyFrom(graph)
    _change(changed)
    return changed


def widened(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return an array of float16 or bfloat16 numbers as float32.

    A bfloat16 number is the upper 16 bits of a float32. Before 1.18 onnx returns these bits in a
    field.
    """
    if array.dtype.names:
        upper = array[array.dtype.names[0]].astype(np.uint32)
        return np.asarray(upper << 16, np.uint32).view(np.float32)
    return array.astype(np.float32)


def _has_float16(node: onnx.NodeProto) -> bool:
    return any(
        (attribute.name in _TYPES and attribute.i in FLOAT16_TYPES)
        or attribute.t.data_type in FLOAT16_TYPES
        for attribute in node.attribute
    ) or any(has_float16(graph) for graph in subgraphs(node))


def _change(graph: onnx.GraphProto) -> None:
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type in FLOAT16_TYPES:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in _TYPES and attribute.i in FLOAT16_TYPES:
                attribute.i = onnx.TensorProto.FLOAT
            if attribute.t.data_type in FLOAT16_TYPES:
                _widen(attribute.t)
        for inner in subgraphs(node):
            _change(inner)
            for tensor in inner.initializer:
                if tensor.data_type in FLOAT16_TYPES:
                    _widen(tensor)


def _widen(tensor: onnx.TensorProto) -> None:
    require_data(tensor, tensor.name)
    array = widened(array_of(tensor, tensor.name))
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
