"""Coding nodes are written in the form that onnxruntime has for every opset."""

import pytest
from onnx import helper

from hexsim.onnx_io.write.as_run import as_run


@pytest.mark.parametrize("operator", ["QuantizeLinear", "DequantizeLinear"])
def test_coding_nodes_go_to_the_domain_of_onnxruntime(operator: str) -> None:
    node = helper.make_node(operator, ["x", "s", "z"], ["y"], axis=0)
    moved = as_run(node)
    assert moved.domain == "com.microsoft"
    assert (moved.op_type, moved.input, moved.attribute) == (operator, node.input, node.attribute)
    assert node.domain == ""


def test_what_that_domain_lacks_stays() -> None:
    blocked = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], block_size=2)
    assert as_run(blocked) is blocked
    relu = helper.make_node("Relu", ["x"], ["y"])
    assert as_run(relu) is relu
