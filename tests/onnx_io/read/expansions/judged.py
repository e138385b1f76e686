"""Models of one fused node, read by us and run as they are by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read_with_codes
from hexsim.passes import optimize
from tests.conftest import run_onnx

Arrays = Mapping[str, np.ndarray]


def fused(operator: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    """A node of com.microsoft; a dash leaves an input or output out."""
    reads, writes = (
        [name.replace("-", "") for name in names.split()] for names in (inputs, outputs)
    )
    return helper.make_node(
        operator, reads, writes, name=operator, domain="com.microsoft", **attributes
    )


def model_of(
    nodes: Sequence[onnx.NodeProto], feed: Arrays, weights: Arrays, outputs: str, opset: int = 17
) -> onnx.ModelProto:
    """A model whose inputs are those of `feed`; the test is skipped if onnx is older than that."""
    if opset > onnx.defs.onnx_opset_version():
        pytest.skip(f"this onnx has no operator set {opset}")
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in feed.items()
    ]
    given = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    ends = [helper.make_empty_tensor_value_info(name) for name in outputs.split()]
    graph = helper.make_graph(nodes, "fused", inputs, ends, given)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def assert_same(
    model: onnx.ModelProto,
    feed: Arrays,
    opaque: Sequence[str] = (),
    judge: onnx.ModelProto | None = None,
) -> Network:
    """All outputs are those of onnxruntime; beside layers of ours only `opaque` remain.

    It runs `judge`, the same in floats, where the model itself makes codes of activations.
    """
    network = optimize(read_with_codes(model).network)
    network.check()
    stored = {name: network.tensors[name].from_source(array) for name, array in feed.items()}
    outputs = FloatEngine(network).run(stored)  # type: ignore[arg-type]
    for name, expected in run_onnx(judge or model, dict(feed)).items():
        got = network.tensors[name].to_source(outputs[name])
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=5e-6)
    left = {layer.op_type for layer in network.layers if isinstance(layer, Opaque)}
    assert left == set(opaque)
    return network


def dynamic_codes() -> onnx.NodeProto:
    """Codes of x."""
    return helper.make_node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"], name="codes")
