"""Convert a user's arrays, in ONNX axis order, to the network's stored order, and back.

For an input that is quantised in the ONNX file, integers of the file's type are codes, and floats
are real numbers. A quantised output is returned as codes. An input of integers or booleans accepts
whole numbers of any type, as long as its own type has them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph import whole_numbers
from hexsim.graph.ir import FloatArray, Network


def stored_inputs(
    network: Network, arrays: Mapping[str, npt.NDArray[np.generic]]
) -> dict[str, FloatArray]:
    """Check a user's input arrays (ONNX axis order) and return them in stored order.

    They have the types of their tensors: float32, or the file's type of integers and booleans.
    Raises HexsimError naming the input, the array and what was expected.
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
    coded = network.coded_ends.get(name)
    return source if coded is None else coded.codes(source)


def values_of(network: Network, name: str, array: npt.NDArray[np.generic]) -> FloatArray:
    """Return a user's numbers for input `name` in the network's type, with unchanged axes.

    Integers and booleans must be numbers of the input's type; nothing is clipped or wrapped.
    Raises HexsimError naming the input, the first wrong number and its index.
    """
    _require_numbers(name, array)
    dtype = network.tensors[name].dtype
    coded = network.coded_ends.get(name)
    if coded is not None and array.dtype == coded.type:
        array = coded.real(array)
    elif coded is not None and array.dtype.kind != "f":
        raise HexsimError(
            f"input '{name}' has dtype {array.dtype}; give codes ({coded.type}, as the file has "
            "them) or real numbers (float32)"
        )
    fault = whole_numbers.fault(array, dtype) or network.input_format(name).fault(array)
    if fault is not None:
        raise HexsimError(f"input '{name}' holds {fault}; give it such numbers")
    with np.errstate(over="ignore"):  # float64 values beyond float32 become infinite
        values = array.astype(dtype, copy=False)
        finite = values.dtype.kind != "f" or np.isfinite(values.astype(np.float32)).all()
    if not finite:
        raise HexsimError(f"input '{name}' holds NaN or infinite values")
    return values


def _stored(network: Network, name: str, array: npt.NDArray[np.generic]) -> FloatArray:
    tensor = network.tensors[name]
    _require_numbers(name, array)
    if tensor.source_shape == () and array.size == 1:
        array = array.reshape(())  # onnxruntime takes any shape of one element for a scalar
    if array.shape != tensor.source_shape:
        raise HexsimError(
            f"input '{name}' has shape {_shape(array.shape)}, "
            f"the model expects {_shape(tensor.source_shape)}"
        )
    return tensor.from_source(values_of(network, name, array))


def _require_numbers(name: str, array: npt.NDArray[np.generic]) -> None:
    if array.dtype.kind not in "fiub":
        raise HexsimError(f"input '{name}' has dtype {array.dtype}; give numbers (float32)")


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"
