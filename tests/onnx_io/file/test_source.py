"""Files that are missing, truncated, foreign, too old or too new.

Names of ONNX files are as they may be shown before anything reads them.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.source import open_source, with_visible_names
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from tests.conftest import make_model


@pytest.fixture
def model(onnx_model: Callable[..., onnx.ModelProto]) -> onnx.ModelProto:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    weight = np.arange(600.0).reshape(20, 30)
    return onnx_model([node], {"x": (1, 20)}, ["y"], {"w": weight})


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"no such file: '.*none\.onnx'"):
        open_source(tmp_path / "none.onnx")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match="cannot read"):
        open_source(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x00\xff" * 40])
def test_a_foreign_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(HexsimError, match="is not an ONNX model or is truncated"):
        open_source(path)


@pytest.mark.parametrize("part", [0.02, 0.5, 0.99])
def test_a_truncated_file(part: float, model: onnx.ModelProto, tmp_path: Path) -> None:
    content = model.SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(HexsimError, match="is not an ONNX model or is truncated"):
        open_source(path)


def test_an_opset_from_the_future(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = onnx.defs.onnx_opset_version() + 1
    with pytest.raises(HexsimError, match="the installed onnx knows up to"):
        open_source(model)


def test_a_graph_without_nodes(model: onnx.ModelProto) -> None:
    del model.graph.node[:]
    with pytest.raises(HexsimError, match="a graph without nodes"):
        open_source(model)


@pytest.mark.parametrize("version", [2**31 - 1, 2**31, 2**63 - 1])
def test_an_opset_of_another_domain_beyond_32_bits(
    onnx_model: Callable[..., onnx.ModelProto], version: int
) -> None:
    """Nobody reads it while no node is of that domain; one that is gets its newest operator."""
    model = onnx_model([helper.make_node("Relu", ["x"], ["y"])], {"x": (1, 4)}, ["y"])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    model.opset_import.append(helper.make_opsetid("own", version))
    network = read(model)
    assert [layer.type for layer in network.layers] == ["neuron"]
    (output,) = FloatEngine(network).run({"x": np.array([[-1, 0, 1, 2]], np.float32)}).values()
    assert output.tolist() == [[0, 0, 1, 2]]
    node = helper.make_node("Scaler", ["x"], ["y"], name="n", domain="ai.onnx.ml", offset=[1.0])
    model.graph.node[0].CopyFrom(node)
    with pytest.raises(HexsimError, match=r"node 'n' \(ai.onnx.ml.Scaler\): the shape of output"):
        read(model)


def test_local_functions_are_inlined(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    body = [helper.make_node("Relu", ["a"], ["b"])]
    imports = [helper.make_opsetid("", 17)]
    function = helper.make_function("own", "Activate", ["a"], ["b"], body, imports)
    node = helper.make_node("Activate", ["x"], ["y"], domain="own")
    model = onnx_model([node], {"x": (1, 3, 4, 4)}, ["y"])
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("own", 1))
    agreement = agree(model)
    assert agreement.read.layers[0].type == "neuron"  # type: ignore[attr-defined]


def test_sparse_initializers_are_refused(model: onnx.ModelProto) -> None:
    values = numpy_helper.from_array(np.ones(1, np.float32), "s")
    indices = numpy_helper.from_array(np.zeros(1, np.int64), "i")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    with pytest.raises(HexsimError, match="sparse initialisers"):
        open_source(model)


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
