"""Measured and simulated time of graphs of one operator: a part of docs/results/layer-times.md.

The rows are those of op_latency.csv. Their graphs are made here, without trained weights, for only
the structure counts. The measured call contains the changes of layout at the edges of its graph.

Rows of 8-bit values on the CPU are left out: the CPU runtime of this release computes in floats
here.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import hexsim
from benchmarks.measured.layers import OperatorRow, operator_rows
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.quantization.model import Model
from hexsim.reports.text import table
from hexsim.runtimes import Runtime

_OPSET = 13
_OPERATOR = "operator"
"""The tensor that the measured operator computes."""


@dataclass(frozen=True)
class ComparedOperator:
    """One row with its simulated time in milliseconds."""

    row: OperatorRow
    simulated_ms: float

    @property
    def ratio(self) -> float:
        """Simulated by measured time."""
        return self.simulated_ms / self.row.latency_ms

    @property
    def factor(self) -> float:
        """The ratio or its reciprocal, whichever is larger."""
        return max(self.ratio, 1 / self.ratio)


def compared() -> list[ComparedOperator]:
    """Simulate every row of an operator that is modelled."""
    return [
        ComparedOperator(row, _simulated_ms(row))
        for row in operator_rows()
        if row.operator in _GRAPHS and (row.runtime != "cpu" or row.precision == "fp32")
    ]


def summary(operators: Sequence[ComparedOperator]) -> str:
    """Return a row per operator and runtime, and the median factor."""
    header = ("operator", "input", "type", "runtime", "measured ms", "simulated ms", "ratio")
    rows = [
        (
            compared.row.operator,
            compared.row.input_nchw,
            compared.row.precision,
            compared.row.runtime,
            f"{compared.row.latency_ms:.2f}",
            f"{compared.simulated_ms:.2f}",
            f"{compared.ratio:.2f}",
        )
        for compared in operators
    ]
    median = statistics.median(compared.factor for compared in operators)
    text = table(header, rows, left=frozenset({0, 1, 2, 3}))
    return f"{text}\n\nmedian factor {median:.2f}"


def _simulated_ms(row: OperatorRow) -> float:
    model, platform = _model(row.operator), Platform.load(row.chip, row.stack)
    if row.runtime == "hta":
        deployment = Deployment(model, platform, "aip").with_sections([[_OPERATOR]], rules="1.25+")
    else:
        runtimes: dict[str, Runtime] = {"dsp": "dsp", "cpu": "cpu", "gpu": "gpu"}
        deployment = Deployment(model, platform, runtimes[row.runtime])
    return deployment.simulate().total_us / 1e3


def _model(operator: str) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "operator.onnx"
        onnx.save(_GRAPHS[operator], path)
        return hexsim.load(path)


def _graph(
    nodes: Sequence[onnx.NodeProto],
    source: Sequence[int],
    result: Sequence[int],
    **constants: np.ndarray,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "operator",
        [helper.make_tensor_value_info("in", TensorProto.FLOAT, source)],
        [helper.make_tensor_value_info(_OPERATOR, TensorProto.FLOAT, result)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)


def _single(node: onnx.NodeProto, source: Sequence[int], result: Sequence[int]) -> onnx.ModelProto:
    return _graph([node], source, result)


_GRAPHS = {
    "Softmax": _single(
        helper.make_node("Softmax", ["in"], [_OPERATOR], axis=-1),
        (1, 12, 1024, 1024),
        (1, 12, 1024, 1024),
    ),
    "Transpose": _single(
        helper.make_node("Transpose", ["in"], [_OPERATOR], perm=(0, 2, 1, 3)),
        (1, 12, 1024, 64),
        (1, 1024, 12, 64),
    ),
    "Reshape": _graph(
        [helper.make_node("Reshape", ["in", "shape"], [_OPERATOR])],
        (1, 1024, 12, 64),
        (1, 1024, 768),
        shape=np.array((1, 1024, 768)),
    ),
    "Conv1x1 12->12": _graph(
        [helper.make_node("Conv", ["in", "weights"], [_OPERATOR])],
        (1, 12, 1024, 1024),
        (1, 12, 1024, 1024),
        weights=np.full((12, 12, 1, 1), 0.1, np.float32),
    ),
    "FullyConnected 1024->64": _graph(
        [helper.make_node("Gemm", ["in", "weights", "bias"], [_OPERATOR], transB=1)],
        (1024, 1024),
        (1024, 64),
        weights=np.full((64, 1024), 0.1, np.float32),
        bias=np.zeros(64, np.float32),
    ),
    "Tanh": _single(
        helper.make_node("Tanh", ["in"], [_OPERATOR]), (1, 1024, 3072), (1, 1024, 3072)
    ),
}
