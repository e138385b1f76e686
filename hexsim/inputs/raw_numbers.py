"""The numbers of one raw file: their type, possible faults, and how to write them instead.

A file holds float32 numbers, or numbers of a type given by the caller; an NV21 picture is bytes.

Files of SNPE have no 64-bit integers (none wider than int32 were seen in .dlc files). So a file of
an input's own numbers may hold 32 bits for each of 64, which its size tells; but not where a
network takes a batch, since a file of that size might be a part of the batch.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.graph import whole_numbers
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import Network

FLOATS = "<f4"
"""The default type of numbers."""
_NATIVE = "snpe-net-run takes {} numbers as native input files"
_SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)


def native_type(dtype: str) -> str:
    """Return the type of a tensor's own numbers in a file; booleans are bytes 0 and 1."""
    return "|u1" if dtype == "bool" else np.dtype(dtype).newbyteorder("<").str


def stored_type(
    network: Network, name: str, types: Mapping[str, str], size: int | None = None
) -> np.dtype[np.generic]:
    """Return the type of the numbers in a file of input `name`, of `size` bytes if known."""
    if network.input_format(name).encoding == "nv21":
        return np.dtype("u1")
    stored = np.dtype(types.get(name, FLOATS))
    if stored.kind in "iu" and stored.itemsize == 8 and batch_size(network) == 1:
        half = np.dtype(f"<{stored.kind}4")
        if size == network.tensors[name].elements * half.itemsize:
            return half
    return stored


def read(
    path: Path, network: Network, name: str, types: Mapping[str, str]
) -> npt.NDArray[np.generic]:
    """Return all numbers of a file; raise OSError or ValueError if it cannot be read."""
    data = path.read_bytes()
    return np.frombuffer(data, stored_type(network, name, types, len(data)))


def fault(values: npt.NDArray[np.generic], network: Network, name: str) -> str | None:
    """Return what is wrong with the numbers of a file for input `name`, and what to do."""
    dtype = network.tensors[name].dtype
    wrong = whole_numbers.fault(values, dtype)
    if wrong is not None:
        return f"{wrong}; {_instead(values, dtype)}"
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        kind = "NaN" if np.isnan(values).any() else "infinite"
        return f"{kind} values; write it again"
    return network.input_format(name).fault(values)


def form(network: Network, name: str, types: Mapping[str, str], bytes_each: int) -> tuple[str, str]:
    """Return the kind of input, and what to write; a file has `bytes_each` per number."""
    stored, dtype = stored_type(network, name, types), network.tensors[name].dtype
    if network.input_format(name).encoding == "nv21":
        return "NV21", "write the bytes of one picture, luma rows first"
    text = f"write {stored.name} numbers, little endian, channels last, without header"
    if (
        dtype in whole_numbers.WHOLE_TYPES
        and name not in types
        and bytes_each == np.dtype(dtype).itemsize
    ):
        text += f" ({_NATIVE.format(dtype)})"
    coded = network.coded_ends.get(name)
    if coded is not None and stored.kind == "f" and bytes_each == np.dtype(coded.type).itemsize:
        text += (
            f" ({coded.type} code c of the ONNX file stands for "
            f"{coded.scale:.9g} * (c - {coded.zero_point}))"
        )
    return "non-NV21", text


def _instead(values: npt.NDArray[np.generic], dtype: str) -> str:
    """Return what to do about numbers that the input's type does not have.

    1 as int32 is 1.4e-45 if it is read as float32, and -1 is NaN.
    """
    at = whole_numbers.first_wrong(values, dtype)
    if values.dtype == np.float32 and at is not None:
        first = values[at]
        if np.isnan(first) or abs(first) < _SMALLEST_NORMAL:
            return f"if they are integers, write them as float32, or {_NATIVE.format('int32')}"
    return "write such numbers"
