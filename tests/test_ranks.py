"""Tensors of any rank, and empty ones, on every runtime: networks of one layer.

Each network is quantised, planned, timed and computed on every runtime. Float runtimes give what
onnxruntime gives for the untouched file, integer ones the same within a few steps of the encoding.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import onnx
import onnx.helper as h
import onnxruntime
import pytest

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Shape
from hexsim.inputs.stored import stored_inputs
from hexsim.runtimes import Runtime

SINGLE = onnx.TensorProto.FLOAT
SHAPES = ((), (8,), (3, 8), (2, 3, 8), (1, 3, 5, 6), (1, 2, 3, 4, 5))
PLACES: tuple[tuple[str, Runtime], ...] = (
    ("sd835", "dsp"),
    ("sd855", "dsp"),
    ("sd855", "aip"),
    ("sd855", "fxp_cpu"),
    ("sd855", "gpu"),
    ("sd855", "cpu"),
)
PLATFORMS = {chip: Platform.load(chip) for chip, _ in PLACES}
TOLERANCE = {"cpu": 1e-6, "gpu": 2e-3}
"""Of float runtimes, as a share of the largest value; others have three steps of 255."""


class Graph(NamedTuple):
    """Nodes from x (and x2) to y, with their constants."""

    nodes: list[onnx.NodeProto]
    constants: Mapping[str, object] = MappingProxyType({})


def _one(operator: str, *more: str, **attributes: object) -> list[onnx.NodeProto]:
    return [h.make_node(operator, ["x", *more], ["y"], **attributes)]


def _graphs(shape: Shape) -> Iterator[tuple[str, Graph]]:
    rank, size = len(shape), math.prod(shape)
    for operator in ("Relu", "Sigmoid", "Atan", "Identity"):
        yield operator, Graph(_one(operator))
    for operator in ("Add", "Mul", "Max"):
        yield f"{operator} tensor", Graph(_one(operator, "x2"))
        yield f"{operator} scalar", Graph(_one(operator, "k"), {"k": np.float32(1.5)})
    if rank > 1:
        channels = np.linspace(-1, 1, shape[1], dtype=np.float32).reshape(-1, *[1] * (rank - 2))
        yield "Add channels", Graph(_one("Add", "k"), {"k": channels})
    yield "Sub leading axis", Graph(_one("Sub", "k"), {"k": np.ones((2, *shape), np.float32)})
    yield "Reshape", Graph(_one("Reshape", "k"), {"k": np.array([1, size])})
    yield "Reshape to a vector", Graph(_one("Reshape", "k"), {"k": np.array([size])})
    yield "ReduceMean of all", Graph(_one("ReduceMean", keepdims=0))
    mean = [
        h.make_node("ReduceMean", ["x"], ["m"], keepdims=0),
        h.make_node("Mul", ["x", "m"], ["y"]),
    ]
    yield "Mul by the mean", Graph(mean)
    if rank == 0:
        return
    for axis in {0, rank - 1}:
        yield f"Concat {axis}", Graph(_one("Concat", "x2", axis=axis))
        yield f"Softmax {axis}", Graph(_one("Softmax", axis=axis))
        nothing = tuple(0 if a == axis else n for a, n in enumerate(shape))
        empty = {"k": np.zeros(nothing, np.float32)}
        yield f"Concat with nothing {axis}", Graph(_one("Concat", "k", axis=axis), empty)
    yield "Gather", Graph(_one("Gather", "k", axis=0), {"k": np.array(0)})
    yield "Transpose", Graph(_one("Transpose", perm=tuple(reversed(range(rank)))))
    yield "MatMul", Graph(_one("MatMul", "k"), {"k": np.ones((shape[-1], 5), np.float32)})
    none = {"a": np.array([0]), "b": np.array([0]), "c": np.array([rank - 1])}
    cut = [h.make_node("Slice", ["x", "a", "b", "c"], ["s"])]
    yield "Slice of nothing", Graph([*cut, h.make_node("Sigmoid", ["s"], ["y"])], none)
    joined = [
        *cut,
        h.make_node("Relu", ["s"], ["t"]),
        h.make_node("Concat", ["t", "x"], ["y"], axis=rank - 1),
    ]
    yield "Concat with a slice of nothing", Graph(joined, none)


CASES = [
    pytest.param(shape, graph, id=f"{name} {'x'.join(map(str, shape)) or 'scalar'}")
    for shape in SHAPES
    for name, graph in _graphs(shape)
]


def _model(shape: Shape, graph: Graph) -> onnx.ModelProto:
    names = [n for n in ("x", "x2") if any(n in node.input for node in graph.nodes)]
    constants = [onnx.numpy_helper.from_array(np.asarray(a), n) for n, a in graph.constants.items()]
    inputs = [h.make_tensor_value_info(name, SINGLE, shape) for name in names]
    outputs = [h.make_tensor_value_info("y", SINGLE, None)]
    made = h.make_graph(graph.nodes, "g", inputs, outputs, constants)
    return h.make_model(made, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(("shape", "graph"), CASES)
def test_every_runtime_takes_it(tmp_path: Path, shape: Shape, graph: Graph) -> None:
    file = _model(shape, graph)
    onnx.save(file, tmp_path / "m.onnx")
    rng = np.random.default_rng(3)
    feed = {i.name: rng.uniform(-2, 2, shape).astype(np.float32) for i in file.graph.input}
    (expected,) = onnxruntime.InferenceSession(
        file.SerializeToString(), providers=["CPUExecutionProvider"]
    ).run(None, feed)
    model = hexsim.load(tmp_path / "m.onnx")
    network = model.network
    coded = hexsim.quantize(model, [feed])
    scale = float(np.abs([np.abs(expected).max(initial=0), 2.0]).max())
    for chip, runtime in PLACES:
        deployment = deploy(model if runtime in TOLERANCE else coded, PLATFORMS[chip], runtime)
        assert deployment.simulate().total_us > 0
        answer = deployment.executor(threads=1).run(stored_inputs(network, feed))["y"]
        tolerance = TOLERANCE.get(runtime, 3 / 255) * scale
        values = network.tensors["y"].to_source(answer)
        assert values.shape == expected.shape
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)
