"""How many positions an input of integers chooses from, through nodes that move it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hexsim
from hexsim.inputs.seeded import seeded_calibration
from hexsim.onnx_io.positions import positions

TABLE = np.arange(7 * 4, dtype=np.float32).reshape(7, 4)


def _model(*nodes: onnx.NodeProto, dtype: int = TensorProto.INT64) -> onnx.ModelProto:
    """A model of an input `x` of 2x2 numbers, and a table of 7x4."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", dtype, (2, 2))],
        [helper.make_empty_tensor_value_info("y")],
        [
            onnx.numpy_helper.from_array(TABLE, "table"),
            onnx.numpy_helper.from_array(np.array([0], np.int64), "zero"),
            onnx.numpy_helper.from_array(np.array([4], np.int64), "four"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _node(kind: str, inputs: str, output: str = "y", **attributes: object) -> onnx.NodeProto:
    return helper.make_node(kind, inputs.split(), [output], **attributes)


CAST = _node("Cast", "x", "y", to=TensorProto.FLOAT)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([_node("Gather", "table x")], 7),
        ([_node("Gather", "table x", axis=1)], 4),
        ([_node("Gather", "table x", axis=-1)], 4),
        ([_node("GatherElements", "table x", axis=0)], 7),
        ([_node("GatherND", "table x")], 4),
        (
            [_node("Reshape", "x four", "r"), _node("Gather", "table r")],
            7,
        ),
        (
            [
                _node("Cast", "x", "c", to=TensorProto.INT32),
                _node("Unsqueeze", "c zero", "u"),
                _node("Gather", "table u", axis=1),
            ],
            4,
        ),
        (
            [
                _node("Gather", "table x", "a"),
                _node("Gather", "table x", "b", axis=1),
                _node("ReduceSum", "a", "sa", keepdims=0),
                _node("ReduceSum", "b", "sb", keepdims=0),
                _node("Add", "sa sb"),
            ],
            4,
        ),
        ([CAST], None),
    ],
)
def test_positions(nodes: list[onnx.NodeProto], expected: int | None) -> None:
    network = hexsim.load(_model(*nodes)).network
    assert positions(network, "x") == expected
    made = np.concatenate([feed["x"].ravel() for feed in seeded_calibration(network, 50)])
    assert made.dtype == np.int64
    assert sorted(set(made.tolist())) == list(range(expected or 2)), "all that there may be"


@pytest.mark.parametrize(
    ("dtype", "least", "most"), [("bool", 0, 1), ("uint8", 0, 255), ("int8", -128, 127)]
)
def test_made_up_numbers_without_positions(dtype: str, least: int, most: int) -> None:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    network = hexsim.load(_model(CAST, dtype=element)).network
    made = np.concatenate([feed["x"].ravel() for feed in seeded_calibration(network, 50)])
    assert made.dtype == dtype
    assert least <= int(made.min()) < int(made.max()) <= most
    if most > 1:
        assert int(made.max()) - int(made.min()) > 100, "as dark and light as a photograph"
