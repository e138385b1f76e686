"""A network that ends inside its file's graph."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from hexsim.errors import HexsimError
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read_with_codes

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
W = np.random.default_rng(3).standard_normal((4, 3, 1, 1))


def detector(onnx_model: Make) -> onnx.ModelProto:
    """A convolution, whose channels are boxes of one class and their scores, and their choice."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv"),
        node("Reshape", ["c", "rows"], ["r"], name="rows"),
        node("Transpose", ["r"], ["boxes"], name="boxes", perm=[0, 2, 1]),
        node("ReduceMax", ["r"], ["scores"], name="scores", axes=[1], keepdims=1),
        node("NonMaxSuppression", ["boxes", "scores", "most"], ["chosen"], name="choose"),
        node("Cast", ["chosen"], ["y"], name="real", to=onnx.TensorProto.FLOAT),
    ]
    weights = {"w": W, "rows": [1, 4, 30], "most": [10]}
    return onnx_model(nodes, {"x": (1, 3, 5, 6)}, ["y"], weights, 13)


def test_it_ends_before_it(onnx_model: Make) -> None:
    model = detector(onnx_model)
    network = read_with_codes(model, output_names=["boxes", "scores"]).network
    assert network.outputs == ("boxes", "scores")
    assert {layer.name.split(".")[0] for layer in network.layers} <= {
        "conv",
        "rows",
        "boxes",
        "scores",
    }
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.node[4:], whole.graph.output[:]
    whole.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("boxes", [1, 30, 4]), ("scores", [1, 1, 30]))
    )
    feed = {"x": np.random.default_rng(1).standard_normal((1, 5, 6, 3)).astype(np.float32)}
    expected = FloatEngine(read_with_codes(whole).network).run(feed)
    for name, array in FloatEngine(network).run(feed).items():
        np.testing.assert_array_equal(array, expected[name])


def test_an_end_in_the_middle_drops_what_it_does_not_need(onnx_model: Make) -> None:
    model = hexsim.load(detector(onnx_model), output_names=["c"])
    assert [layer.name for layer in model.network.layers] == ["conv"]


def test_a_node_stands_for_its_output(onnx_model: Make) -> None:
    read = read_with_codes(detector(onnx_model), output_names=["conv", "boxes"])
    assert read.network.outputs == ("c", "boxes")  # the tensor called boxes, not the node
    said = [note for note in read.report.notes if "is taken" in note]
    assert said == ["'conv' is a node, not a tensor; its output 'c' is taken"]


def test_what_no_node_writes_is_no_end(onnx_model: Make) -> None:
    with pytest.raises(HexsimError, match=r"'box'.*boxes"):
        read_with_codes(detector(onnx_model), output_names=["box"])


def test_an_output_that_no_input_reaches_is_left_out_with_a_note(onnx_model: Make) -> None:
    """A detector that also returns its grid."""
    nodes = [
        node("Conv", ["x", "w"], ["y"], name="conv"),
        node("Mul", ["grid", "eight"], ["anchors"], name="scale"),
    ]
    constants = {"w": W, "grid": np.arange(16.0), "eight": np.array(8.0)}
    model = onnx_model(nodes, {"x": (1, 3, 5, 6)}, ["y", "anchors"], constants, 13)
    loaded = hexsim.load(model)
    assert loaded.network.outputs == ("y",)
    assert any("output 'anchors'" in note for note in hexsim.import_report(model).notes)
    with pytest.raises(HexsimError, match=r"'anchors' of .* does not depend on any input"):
        read_with_codes(model, output_names=["anchors"])
