"""Names of ONNX files are as they may be shown before anything reads them."""

import onnx
from onnx import helper

from hexsim.onnx_io.file.visible_names import with_visible_names
from hexsim.onnx_io.read.reader import read
from tests.conftest import make_model


def _hostile() -> onnx.ModelProto:
    then = helper.make_graph(
        [helper.make_node("Relu", ["a\n"], ["b\x07"], name="in\x1b[0m")],
        "branch\r",
        [],
        [helper.make_tensor_value_info("b\x07", onnx.TensorProto.FLOAT, [1, 2])],
    )
    nodes = [
        helper.make_node("Add", ["x\u202e", "w\t"], ["a\n"], name="add\x00"),
        helper.make_node("If", ["c\x0c"], ["y\x7f"], then_branch=then, else_branch=then),
    ]
    weights = {"w\t": [1.0, 2.0], "c\x0c": True}
    return make_model(nodes, {"x\u202e": [1, 2]}, ["y\x7f"], weights)


def test_every_name_is_written_out_everywhere() -> None:
    model = _hostile()
    shown = with_visible_names(model)
    add, branch = shown.graph.node
    assert (add.name, *add.input, *add.output) == (r"add\x00", r"x\u202e", r"w\t", r"a\n")
    inner = branch.attribute[0].g
    assert (inner.name, inner.node[0].name, inner.node[0].input[0]) == (
        r"branch\r",
        r"in\x1b[0m",
        r"a\n",
    )
    assert {tensor.name for tensor in shown.graph.initializer} == {r"w\t", r"c\x0c"}
    assert model.graph.node[0].name == "add\x00", "the caller's model stays as it was"


def test_what_is_printed_is_not_copied() -> None:
    model = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": [1]}, ["y"])
    model.doc_string = "several\nlines"
    assert with_visible_names(model) is model


def test_where_weights_lie_is_no_name() -> None:
    model = _hostile()
    entry = model.graph.initializer[0].external_data.add()
    entry.key, entry.value = "location", "odd\nfile"
    (kept,) = with_visible_names(model).graph.initializer[0].external_data
    assert kept.value == "odd\nfile"


def test_networks_have_visible_names() -> None:
    network = read(_hostile())
    assert network.inputs == (r"x\u202e",)
    assert network.outputs == (r"y\x7f",)


def test_bytes_that_are_no_text_stay_beside_names() -> None:
    """Whoever reads them refuses them, by the name of their node."""
    model = onnx.ModelProto()
    node = model.graph.node.add()
    node.ParseFromString(b"\x0a\x01\xff" + b"\x0a\x03a\nb")
    assert list(with_visible_names(model).graph.node[0].input) == [b"\xff", "a\\nb"]
