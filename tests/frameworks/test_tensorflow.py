"""Inputs and outputs of codes become real, and compute what they did."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.frameworks.tensorflow import with_real_ends
from tests.conftest import run_onnx

CODES = np.arange(-12, 12).reshape(1, 2, 3, 4).astype(np.int8)
STEP, ZERO = np.float32(0.25), np.int8(-3)


def model(moved: bool = True, steps: tuple[str, ...] = ("step",)) -> onnx.ModelProto:
    """Codes that may be transposed, are dequantised, doubled and quantised again."""
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])] if moved else []
    source = "t" if moved else "x"
    for at, step in enumerate(steps):
        nodes.append(helper.make_node("DequantizeLinear", [source, step, "zero"], [f"r{at}"]))
    nodes += [
        helper.make_node("Add", ["r0", f"r{len(steps) - 1}"], ["s"]),
        helper.make_node("QuantizeLinear", ["s", "step", "zero"], ["y"]),
    ]
    shape = [1, 4, 2, 3] if moved else [1, 2, 3, 4]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 2, 3, 4])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, shape)],
        [
            numpy_helper.from_array(np.asarray(STEP), "step"),
            numpy_helper.from_array(np.asarray(2 * STEP), "other"),
            numpy_helper.from_array(np.asarray(ZERO), "zero"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("moved", [True, False])
def test_the_same_numbers_go_in_and_come_out(moved: bool) -> None:
    before = model(moved)
    after = with_real_ends(before)
    onnx.checker.check_model(after, full_check=True)
    kinds = [v.type.tensor_type.elem_type for v in (*after.graph.input, *after.graph.output)]
    assert kinds == [TensorProto.FLOAT] * 2
    codes = run_onnx(before, {"x": CODES})["y"].astype(np.float32)
    real = run_onnx(after, {"x": (CODES.astype(np.float32) - ZERO) * STEP})["y"]
    np.testing.assert_array_equal(real, (codes - ZERO) * STEP)


def test_codes_that_mean_two_things_stay_codes() -> None:
    after = with_real_ends(model(steps=("step", "other")))
    assert after.graph.input[0].type.tensor_type.elem_type == TensorProto.INT8


def test_real_ends_stay_as_they_are() -> None:
    after = with_real_ends(model())
    assert with_real_ends(after).graph.input[0] == after.graph.input[0]
    assert [n.op_type for n in with_real_ends(after).graph.node] == [
        n.op_type for n in after.graph.node
    ]
