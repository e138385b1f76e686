"""A user's arrays, in ONNX axis order, become the network's inputs, in stored order, and back.

Of an input that is codes in the ONNX file, integers of the file's type are codes, and floats are
real numbers. Such an output is returned as codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network


def stored_inputs(
    network: Network, arrays: Mapping[str, npt.NDArray[np.generic]]
) -> dict[str, FloatArray]:
    """Check a user's input arrays (ONNX axis order) and return them float32 in stored order.

    Raises HexsimError naming the input, what it is and what was expected.
    """
    surplus = [name for name in arrays if name not in network.inputs]
    missing = [name for name in network.inputs if name not in arrays]
    if surplus or missing:
        raise HexsimError(
            f"network '{network.name}' has the inputs {', '.join(network.inputs)}; "
            f"got {', '.join(arrays) or 'none'}"
        )
    return {name: _stored(network, name, np.asarray(arrays[name])) for name in network.inputs}


def file_output(network: Network, name: str, array: FloatArray) -> npt.NDArray[Any]:
    """Return a tensor of the network in ONNX axis order, as codes if they are in the file."""
    source = np.asarray(network.tensors[name].to_source(array), order="C")
    end = network.coded_ends.get(name)
    return source if end is None else end.codes(source)


def _stored(network: Network, name: str, array: npt.NDArray[np.generic]) -> FloatArray:
    tensor = network.tensors[name]
    if array.dtype.kind not in "fiub":
        raise HexsimError(f"input '{name}' has dtype {array.dtype}; give numbers (float32)")
    if array.shape != tensor.source_shape:
        raise HexsimError(
            f"input '{name}' has shape {_shape(array.shape)}, "
            f"the model expects {_shape(tensor.source_shape)}"
        )
    end = network.coded_ends.get(name)
    if end is not None and array.dtype == end.type:
        array = end.real(array)
    elif end is not None and array.dtype.kind != "f":
        raise HexsimError(
            f"input '{name}' has dtype {array.dtype}; give codes ({end.type}, as the file has "
            "them) or real numbers (float32)"
        )
    values = array.astype(tensor.dtype, copy=False)
    with np.errstate(over="ignore"):  # doubles beyond the range of singles are infinite there
        finite = values.dtype.kind != "f" or np.isfinite(values.astype(np.float32)).all()
    if not finite:
        raise HexsimError(f"input '{name}' holds NaN or infinite values")
    return tensor.from_source(values)  # type: ignore[return-value]


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"
