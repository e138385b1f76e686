"""Nodes that are none of their operator: what it asks for is said."""

import pytest
from onnx import NodeProto, helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.node import OnnxNode, check

node = helper.make_node
REFUSED = {
    "there is no such operator in opset 13": node("Nonsense", ["x"], ["y"]),
    "opset 13 no longer has this operator": node("Upsample", ["x", "s"], ["y"]),
    "has 1 inputs, and its operator takes 2": node("Add", ["x"], ["y"]),
    "has 0 inputs, and its operator takes at least 1": node("Concat", [], ["y"], axis=0),
    "has 2 outputs, and its operator takes 1": node("Relu", ["x"], ["y", "z"]),
    "has 4 inputs, and its operator takes 1 to 3": node("Clip", ["x"] * 4, ["y"]),
    "leaves out its input B, which": node("Add", ["x", ""], ["y"]),
    r"has the attribute alfa, unknown .*mean alpha": node("Elu", ["x"], ["y"], alfa=1.0),
    "attribute alpha is of type INT, not FLOAT": node("Elu", ["x"], ["y"], alpha=1),
    "lacks the attribute to, which": node("Cast", ["x"], ["y"]),
}
TAKEN = (
    node("Clip", ["x", "", "high"], ["y"]),
    node("Wave", ["x"], ["y"], domain="own", height=3),
    node("Relu", ["x"], ["y"], __kept="by somebody"),
)


@pytest.mark.parametrize(("words", "proto"), REFUSED.items(), ids=REFUSED)
def test_what_an_operator_asks_for(words: str, proto: NodeProto) -> None:
    with pytest.raises(HexsimError, match=rf"node 'n' \({proto.op_type}\): {words}"):
        check(OnnxNode(proto, "n", 13))


@pytest.mark.parametrize("proto", TAKEN, ids=lambda proto: proto.op_type)
def test_what_is_taken(proto: NodeProto) -> None:
    check(OnnxNode(proto, "n", 13))
