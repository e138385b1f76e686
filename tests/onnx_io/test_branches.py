"""If: the branch that is known to be taken, or the node as it is."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.layers import Elementwise, Neuron, Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.passes import optimize

Make = Callable[..., onnx.ModelProto]
Agree = Callable[..., object]
node = helper.make_node
SUM = [
    node("ReduceSum", ["x"], ["sum"], keepdims=0),
    node("Cast", ["sum"], ["b"], to=onnx.TensorProto.BOOL),
]
"""A condition that depends on what x holds."""


def _branch(nodes: list[onnx.NodeProto], output: str, **initializers: object) -> onnx.GraphProto:
    arrays = [numpy_helper.from_array(np.asarray(v), n) for n, v in initializers.items()]
    out = helper.make_tensor_value_info(output, 1, None)
    return helper.make_graph(nodes, "branch", [], [out], arrays)


THEN = _branch([node("Mul", ["r", "two"], ["t"])], "t", two=np.float32(2))
ELSE = _branch([node("Tanh", ["x"], ["e"])], "e")
NARROW = _branch([node("MatMul", ["x", "m"], ["n"])], "n", m=np.ones((7, 4), np.float32))


@pytest.mark.parametrize(("size", "kind"), [(3, Elementwise), (5, Neuron)])
def test_a_known_condition_leaves_its_branch(
    size: int, kind: type, onnx_model: Make, agree: Agree
) -> None:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Size", ["x"], ["size"]),
        node("Equal", ["size", "three"], ["c"]),
        node("If", ["c"], ["i"], then_branch=THEN, else_branch=ELSE, name="if"),
        node("Sigmoid", ["i"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": (1, size)}, ["y"], {"three": np.array(3)})
    network = agree(model).optimized  # type: ignore[attr-defined]
    assert isinstance(network.producers["y"], Neuron)
    assert any(isinstance(layer, kind) for layer in network.layers)
    assert not any(isinstance(layer, Opaque) for layer in network.layers)
    assert read_with_codes(model).report.folded["if"] == "If"


def test_nested_branches(onnx_model: Make, agree: Agree) -> None:
    inner = node("If", ["yes"], ["z"], then_branch=THEN, else_branch=ELSE)
    outer = _branch([inner], "z")
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("If", ["yes"], ["y"], then_branch=outer, else_branch=ELSE),
    ]
    model = onnx_model(nodes, {"x": (1, 3)}, ["y"], {"yes": np.array(True)})
    assert not any(isinstance(layer, Opaque) for layer in agree(model).read.layers)  # type: ignore[attr-defined]


def test_an_open_condition_stays_and_reads_around_it(onnx_model: Make, agree: Agree) -> None:
    nodes = [
        *SUM,
        node("Relu", ["x"], ["r"]),
        node("If", ["b"], ["i"], then_branch=THEN, else_branch=ELSE, name="if"),
        node("Relu", ["i"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": (1, 3, 4, 5)}, ["y"], opset=13)
    network = agree(model).optimized  # type: ignore[attr-defined]
    (layer,) = (layer for layer in network.layers if layer.name == "if")
    assert isinstance(layer, Opaque)
    assert len(layer.inputs) == 3
    (opaque_node,) = (node for node in read_with_codes(model).report.opaque if node.name == "if")
    assert "'b' is not known" in opaque_node.reason


def test_a_branch_for_other_shapes_is_never_taken(onnx_model: Make) -> None:
    nodes = [*SUM, node("If", ["b"], ["y"], then_branch=NARROW, else_branch=ELSE, name="if")]
    imported = read_with_codes(onnx_model(nodes, {"x": (1, 3)}, ["y"], opset=13))
    assert isinstance(optimize(imported.network).producers["y"], Neuron)
    assert "is replaced by its else_branch" in imported.report.notes[0]


@pytest.mark.parametrize(
    ("branches", "sentence"),
    [
        ((NARROW, NARROW), r"\(MatMul\)"),
        ((ELSE, _branch([node("ReduceMax", ["x"], ["f"], keepdims=0)], "f")), "different ranks"),
    ],
)
def test_what_no_branch_can_do(
    branches: tuple[onnx.GraphProto, onnx.GraphProto], sentence: str, onnx_model: Make
) -> None:
    then, other = branches
    nodes = [*SUM, node("If", ["b"], ["y"], then_branch=then, else_branch=other, name="if")]
    with pytest.raises(HexsimError, match=sentence):
        read(onnx_model(nodes, {"x": (2, 3)}, ["y"], opset=13))


def test_branches_of_different_sizes_are_run_as_they_are(onnx_model: Make) -> None:
    other = _branch([node("Flatten", ["x"], ["f"], axis=0)], "f")
    nodes = [*SUM, node("If", ["b"], ["y"], then_branch=other, else_branch=ELSE, name="if")]
    engine = FloatEngine(read(onnx_model(nodes, {"x": (2, 3)}, ["y"], opset=13)))
    for value, shape in ((0, (2, 3)), (1, (1, 6))):
        assert engine.run({"x": np.full((2, 3), value, np.float32)})["y"].shape == shape


def test_an_input_with_a_value_is_none(onnx_model: Make) -> None:
    nodes = [
        node("Equal", ["rate", "three"], ["c"]),
        node("Relu", ["x"], ["r"]),
        node("If", ["c"], ["y"], then_branch=THEN, else_branch=ELSE),
    ]
    model = onnx_model(nodes, {"x": (1, 3), "rate": ()}, ["y"], {"three": 3.0})
    assert read(model).inputs == ("x", "rate")
    network = read_with_codes(model, input_values={"rate": 3}).network
    assert network.inputs == ("x",)
    x = np.array([[-1, 0, 2]], np.float32)
    np.testing.assert_array_equal(FloatEngine(network).run({"x": x})["y"], [[0, 0, 4]])
    with pytest.raises(HexsimError, match=r"'rat'.*rate"):
        read_with_codes(model, input_values={"rat": 3})


def test_the_value_of_an_input_is_a_number_of_its_type(onnx_model: Make) -> None:
    model = onnx_model([node("Relu", ["x"], ["y"])], {"x": (1, 3), "rate": ()}, ["y"])
    model.graph.input[1].type.tensor_type.elem_type = onnx.TensorProto.UINT8
    assert read_with_codes(model, input_values={"rate": 255}).network.inputs == ("x",)
    for wrong in (0.9, 256, -1, float("nan")):
        with pytest.raises(HexsimError, match=r"the value of input 'rate' .* from 0 to 255; give"):
            read_with_codes(model, input_values={"rate": wrong})
