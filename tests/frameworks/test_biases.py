"""Layers of TensorFlow with a bias are called as their convolutions."""

from __future__ import annotations

from hexsim.frameworks.biases import with_operations
from hexsim.frameworks.fake_quant import _classes
from tests.frameworks.test_fake_quant import exported, frozen, graph_def, rounded


def test_a_layer_with_a_bias_is_called_as_its_convolution() -> None:
    model = exported(rounded(-1, 1, 8, False))
    assert model.graph.node[0].name == "add"
    (layer,) = with_operations(model, "Graph", frozen(-1, 1)).graph.node
    assert layer.name == "conv"
    assert layer.output == ["add:0"]


def test_what_lies_between_is_passed_and_what_computes_is_not() -> None:
    def named(*between: tuple[str, str, list[str], dict[str, object]]) -> str:
        last = between[-1][0] if between else "conv"
        model = exported(rounded(-1, 1, 8, False))
        nodes = ("conv", "Conv2D", ["x"], {}), *between, ("add", "BiasAdd", [last, "b"], {})
        return with_operations(model, "Graph", graph_def(*nodes)).graph.node[0].name

    assert named(("s", "Squeeze", ["conv"], {})) == "conv"
    assert named(("s", "Squeeze", ["conv"], {}), ("t", "Reshape", ["s:0"], {})) == "conv"
    assert named(("s", "Squeeze", ["s"], {})) == "add", "a circle has no operation"


def test_names_in_functions_follow_those_of_their_calls() -> None:
    model = exported(rounded(-1, 1, 8, False))
    model.graph.node[0].output[0] = "Call/net/first/BiasAdd:0"
    saved = _classes()["SavedModel"]()
    function = saved.meta_graphs.add().graph_def.library.function.add()
    function.node.add(name="net/first/Conv2D", op="Conv2D")
    function.node.add(name="net/first/BiasAdd", op="BiasAdd", input=["net/first/Conv2D:output:0"])
    layer = with_operations(model, "SavedModel", saved.SerializeToString()).graph.node[0]
    assert layer.name == "Call/net/first/Conv2D"


def test_a_name_that_another_node_has_is_left() -> None:
    model = exported(rounded(-1, 1, 8, False))
    model.graph.node.add(op_type="Relu", input=["add:0"], output=["y"], name="conv")
    assert with_operations(model, "Graph", frozen(-1, 1)).graph.node[0].name == "add"


def test_a_damaged_file_has_no_names() -> None:
    model = exported(rounded(-1, 1, 8, False))
    assert with_operations(model, "Graph", b"\xff\xff") == model
