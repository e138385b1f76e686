"""A key of a tensor that a fusion absorbed: API and file of a converted model say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.dlc.loading import load_container

_KEY = '[{"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "min": -3.0, "max": 3.0}]'


def _proto() -> onnx.ModelProto:
    weight = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3, 1, 1)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
            helper.make_node("Relu", ["c"], ["r"], name="relu"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 2, 2])],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weight, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("keys", [("c",), ("c", "r")])
def test_api_and_converted_file_say_the_same(keys: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    entries = ", ".join(f'"{key}": {_KEY}' for key in keys)
    path.write_text(
        f'{{"version": "0.6.1", "activation_encodings": {{{entries}}}, "param_encodings": {{}}}}'
    )
    given = hexsim.read_overrides(path)
    through_api = hexsim.quantize(hexsim.load(_proto()), overrides=given).overrides
    converted = load_container(_proto(), overrides=given)
    through_file = hexsim.quantize(converted.model, overrides=converted.overrides).overrides
    assert through_api == through_file
    assert through_api[0].outcome == "ignored"
    assert through_api[0].reason == "tensor was absorbed into layer 'conv', which writes 'r'"
