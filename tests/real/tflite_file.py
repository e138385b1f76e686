"""The tensors and operators of a .tflite file, read through the flatbuffers library.

Only what the comparison needs: constants, ranges, and which operator reads and writes what. Slot
numbers are the order of the fields in the published schema (schema.fbs of TensorFlow Lite).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flatbuffers import encode, number_types, packer
from flatbuffers.table import Table

MODEL_SUBGRAPHS, MODEL_BUFFERS = 2, 4
GRAPH_TENSORS, GRAPH_OUTPUTS, GRAPH_OPERATORS = 0, 2, 3
OPERATOR_INPUTS, OPERATOR_OUTPUTS = 1, 2
TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_QUANTIZATION = 0, 1, 2, 4
QUANTIZATION_SCALE, QUANTIZATION_ZERO_POINT = 2, 3
BUFFER_DATA = 0

TYPES = {0: np.float32, 2: np.int32, 3: np.uint8, 9: np.int8}
"""Values of the schema's TensorType that occur here."""


@dataclass(frozen=True, eq=False)
class TfliteTensor:
    """`real = scale * (code - zero_point)`; `codes` is None for activations."""

    scale: float
    zero_point: int
    codes: np.ndarray | None


@dataclass(frozen=True)
class TfliteOperator:
    """Indices of tensors: activation, weight and bias of a convolution, in this order."""

    inputs: tuple[int, ...]
    output: int


@dataclass(frozen=True)
class TfliteFile:
    """One graph, operators in execution order."""

    tensors: tuple[TfliteTensor, ...]
    operators: tuple[TfliteOperator, ...]


def read_tflite(path: Path) -> TfliteFile:
    model, graph = _roots(path.read_bytes())
    buffers = [_numbers(buffer, BUFFER_DATA, np.uint8) for buffer in _tables(model, MODEL_BUFFERS)]
    tensors = tuple(_tensor(table, buffers) for table in _tables(graph, GRAPH_TENSORS))
    operators = tuple(
        TfliteOperator(
            tuple(_numbers(table, OPERATOR_INPUTS, np.int32).tolist()),
            int(_numbers(table, OPERATOR_OUTPUTS, np.int32)[0]),
        )
        for table in _tables(graph, GRAPH_OPERATORS)
    )
    return TfliteFile(tensors, operators)


def outputs(path: Path) -> list[int]:
    """Indices of the tensors that operators write, in execution order."""
    return [operator.output for operator in read_tflite(path).operators]


def with_output(path: Path, tensor: int) -> bytes:
    """Return the file with `tensor` as the graph's only output."""
    data = bytearray(path.read_bytes())
    _, graph = _roots(data)
    tensors = graph.Offset(_slot(GRAPH_OUTPUTS))
    assert graph.VectorLen(tensors) == 1
    start = graph.Vector(tensors)
    data[start : start + 4] = tensor.to_bytes(4, "little")
    return bytes(data)


def _roots(data: bytes | bytearray) -> tuple[Table, Table]:
    """The model and its only graph."""
    model = Table(data, encode.Get(packer.uoffset, data, 0))
    (graph,) = _tables(model, MODEL_SUBGRAPHS)
    return model, graph


def _tensor(table: Table, buffers: list[np.ndarray]) -> TfliteTensor:
    shape = _numbers(table, TENSOR_SHAPE, np.int32)
    kind = table.GetSlot(_slot(TENSOR_TYPE), 0, number_types.Int8Flags)
    raw = buffers[table.GetSlot(_slot(TENSOR_BUFFER), 0, number_types.Uint32Flags)]
    codes = raw.view(TYPES[kind]).reshape(shape) if raw.size else None
    offset = table.Offset(_slot(TENSOR_QUANTIZATION))
    quantization = Table(table.Bytes, table.Indirect(table.Pos + offset))
    scale = _numbers(quantization, QUANTIZATION_SCALE, np.float32)
    zero_point = _numbers(quantization, QUANTIZATION_ZERO_POINT, np.int64)
    assert len(scale) <= 1, "one range per tensor"
    return TfliteTensor(
        float(scale[0]) if len(scale) else 0.0, int(zero_point[0]) if len(zero_point) else 0, codes
    )


def _slot(field: int) -> int:
    return 4 + 2 * field


def _tables(table: Table, field: int) -> list[Table]:
    offset = table.Offset(_slot(field))
    start = table.Vector(offset)
    return [
        Table(table.Bytes, table.Indirect(start + 4 * at)) for at in range(table.VectorLen(offset))
    ]


def _numbers(table: Table, field: int, dtype: type) -> np.ndarray:
    offset = table.Offset(_slot(field))
    if not offset:
        return np.zeros(0, dtype)
    count = table.VectorLen(offset)
    return np.frombuffer(table.Bytes, dtype, count, table.Vector(offset))
