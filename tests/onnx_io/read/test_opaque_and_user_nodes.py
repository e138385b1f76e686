"""Nodes of operators that the user brings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.layers import UserDefined
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.udl import UserLayer, known, use_layers
from tests.own_layers import FILE, model


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> UserLayer:
    monkeypatch.setattr(known, "_GIVEN", {})
    return use_layers(FILE)[0]


def node_of(proto: onnx.ModelProto) -> UserDefined:
    (user_layer,) = (layer for layer in read(proto).layers if isinstance(layer, UserDefined))
    return user_layer


def test_a_node_is_what_the_user_says() -> None:
    network = read(model(energy=True))
    assert [layer.type for layer in network.layers][1] == "com.example.Squareplus"
    assert network.tensors["s"].shape == (1, 16, 16, 8), "an operator of elements keeps the order"
    assert network.tensors["y"].shape == (1, 8)
    network.check()


def test_other_operators_see_source_order(own: UserLayer) -> None:
    use_layers(replace(own, any_order=False))
    network = read(model())
    assert network.tensors["s"].shape == (1, 8, 16, 16)
    assert [layer.type for layer in network.layers].count("permute") == 2


def test_unknown_operators_say_what_would_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_GIVEN", {})
    with pytest.raises(HexsimError, match=r"unknown to onnx .* what it does \(hexsim.use_layers\)"):
        read(model())


def test_attributes_of_all_kinds() -> None:
    proto = model()
    array = numpy_helper.from_array(np.arange(6, dtype=np.int16).reshape(2, 3), "a")
    given = {"i": 3, "f": 0.5, "t": "word", "is": [1, 2], "fs": [0.5, 1.5], "ts": ["a", "b"]}
    added = helper.make_node("N", [], [], **given, array=array).attribute
    proto.graph.node[1].attribute.extend(added)
    attributes = node_of(proto).node([(1, 8, 16, 16)]).attributes
    np.testing.assert_array_equal(attributes["array"], np.arange(6).reshape(2, 3))
    lists = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    assert {name: attributes[name] for name in given} == lists


def test_an_attribute_that_is_a_graph() -> None:
    proto = model()
    graph = helper.make_graph([helper.make_node("Relu", ["c1"], ["z"])], "g", [], [])
    graph.output.add(name="z")
    proto.graph.node[1].attribute.append(helper.make_attribute("body", graph))
    with pytest.raises(HexsimError, match="attribute body is no number, text or array"):
        read(proto)


def test_inputs_that_are_left_out_are_none(own: UserLayer) -> None:
    use_layers(replace(own, floats=lambda node, x, none, k: x if none is None else k))
    proto = model()
    proto.graph.node[1].input.extend(["", "w1"])
    use_layers(replace(known._GIVEN[own.name], any_order=False))
    layer = node_of(proto)
    assert layer.places == (0, 2)
    assert layer.node([(1, 8, 16, 16), (8, 3, 3, 3)]).inputs[1] is None
    network = read(proto)
    x = np.ones(network.shape("x"), np.float32)
    outputs = FloatEngine(network, ["c1", "s"]).run({"x": x})
    np.testing.assert_array_equal(outputs["s"], outputs["c1"].transpose(0, 3, 1, 2))


def test_a_standard_operator_may_be_brought_too(own: UserLayer) -> None:
    use_layers(replace(own, domain="", operator="Erf", floats=lambda node, x: x + 1))
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Erf", ["x"], ["y"])], "g", [x], [y])
    network = read(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    outputs = FloatEngine(network).run({"x": np.zeros(3, np.float32)})
    assert outputs["y"].tolist() == [1, 1, 1]


def test_what_no_user_defined_layer_can() -> None:
    proto = model()
    proto.graph.node[1].input[0] = "w1"
    with pytest.raises(HexsimError, match=r"'plus'.*needs an input that varies"):
        read(proto)
    proto = model()
    proto.graph.node[1].output.append("")
    with pytest.raises(HexsimError, match="leaves out an output"):
        read(proto)


def test_the_rule_may_not_change_the_axes_of_an_operator_of_elements(own: UserLayer) -> None:
    use_layers(replace(own, shapes=lambda node: [(1, 8)]))
    with pytest.raises(HexsimError, match="has an output of 2 axes, and inputs of 4"):
        read(model())
