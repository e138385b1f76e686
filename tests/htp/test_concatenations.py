"""Which operands of a concatenation keep their own encoding, and what that costs."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

from hexsim.htp.cost import cost_of
from tests.tensor_graphs import Calls, calls_of, in_floats


def _two_convolutions(path: str, *, read_twice: bool) -> Calls:
    """Two convolutions joined; the first is also read by a Relu if `read_twice`."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "a"),
        helper.make_node("Conv", ["x", "w"], ["b"], "b"),
        helper.make_node("Concat", ["a", "b"], ["y"], "join", axis=1),
    ]
    outputs = ["y"]
    if read_twice:
        nodes.append(helper.make_node("Sigmoid", ["a"], ["z"], "other"))
        outputs.append("z")
    values = [0.5 + 0.125 * (at % 3) for at in range(32 * 32)]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [32, 32, 1, 1], values)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, 8, 8])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "g", [x], ends, [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return calls_of(path)


def test_results_that_nothing_else_reads_are_only_moved(tmp_path: Path) -> None:
    """Each operand is 8 x 8 x 32 codes, 16 vectors; half a vector is counted for each."""
    network, calls = _two_convolutions(str(tmp_path / "m.onnx"), read_twice=False)
    (join,) = [call for call in calls if call.layer.name == "join"]
    assert cost_of(join, network).vectors == 0.5 * 32
    assert cost_of(join, network).operators == 1


def test_an_operand_with_two_readers_is_requantised(tmp_path: Path) -> None:
    """In codes it is an operation of its own; in floats it is moved."""
    network, calls = _two_convolutions(str(tmp_path / "m.onnx"), read_twice=True)
    (join,) = [call for call in calls if call.layer.name == "join"]
    assert cost_of(join, network).vectors == 16 + 0.5 * 16
    assert cost_of(join, network).operators == 2
    (in_float,) = in_floats((join,))
    assert cost_of(in_float, network).operators == 1
