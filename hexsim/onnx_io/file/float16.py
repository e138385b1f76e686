"""Reads a file of float16 or bfloat16 numbers as a file of float32.

Networks compute in float32; only the runtime decides what is rounded to float16. So these types
become float32 wherever a file states them: in inputs and outputs, attributes such as that of Cast,
and constants. Initialisers of the graph are converted when they are read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from hexsim.onnx_io.file.node import subgraphs
from hexsim.onnx_io.file.stored_tensors import array_of, require_data

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
