"""Symbolic dimensions: the batch becomes one, anything else must be given."""

from collections.abc import Callable, Sequence

import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.passes.network_inputs import resized

Make = Callable[..., onnx.ModelProto]


def _model(make: Make, shape: Sequence[int | str]) -> onnx.ModelProto:
    return make([helper.make_node("Relu", ["x"], ["y"])], {"x": shape}, ["y"])


@pytest.mark.parametrize("batch", ["N", 0, -1])
def test_an_unknown_batch_is_one(batch: str | int, onnx_model: Make) -> None:
    network = read(_model(onnx_model, (batch, 3, 8, 9)))
    assert network.tensors["x"].source_shape == (1, 3, 8, 9)
    assert network.tensors["x"].shape == (1, 8, 9, 3)


def test_another_unknown_dimension_is_refused(onnx_model: Make) -> None:
    with pytest.raises(HexsimError, match=r"N,3,H,8.*input_dims={'x': \(1, 3, 224, 8\)}"):
        read(_model(onnx_model, ("N", 3, "H", 8)))


def test_all_inputs_without_sizes_are_named(onnx_model: Make) -> None:
    node = helper.make_node("Add", ["x", "z"], ["y"])
    model = onnx_model([node], {"x": (2, "T", 8), "z": ("N", "T", "L"), "w": (1, 8)}, ["y"])
    with pytest.raises(HexsimError, match=r"{'x': \(2, 128, 8\)}, and those of 'z'$"):
        read(model)
    with pytest.raises(HexsimError, match=r"{'z': \(1, 128, 128\)}$"):
        read(model, input_dims={"x": (2, 4, 8)})


def test_a_given_shape_replaces_the_files(onnx_model: Make) -> None:
    model = _model(onnx_model, ("N", 3, "H", 8))
    assert read(model, input_dims={"x": [2, 3, 5, 8]}).tensors["y"].source_shape == (2, 3, 5, 8)


def test_a_shape_of_one_stands_for_a_scalar(onnx_model: Make) -> None:
    """No list of sizes on a command line can be empty."""
    network = read(_model(onnx_model, ()), input_dims={"x": [1]})
    assert network.tensors["x"].shape == ()
    assert resized(network, {"x": [1]}).tensors["x"].shape == ()


def test_a_shape_against_fixed_sizes_says_whose_they_are(onnx_model: Make) -> None:
    said = "input 'x' is 1,3,4,4 as input_dims says, and not N,3,5,W as in model 'small'"
    shape = ("N", 3, 5, "W")
    notes = read_with_codes(_model(onnx_model, shape), input_dims={"x": (1, 3, 4, 4)}).report.notes
    assert tuple(notes) == (said,)
    reshape = helper.make_node("Reshape", ["x", "sizes"], ["y"])
    model = onnx_model([reshape], {"x": shape}, ["y"], {"sizes": [1, 60]})
    with pytest.raises(HexsimError, match=r"cannot reshape \[1, 3, 4, 4\] to \[1, 60\]") as error:
        read(model, input_dims={"x": (1, 3, 4, 4)})
    assert str(error.value).endswith(f"; {said}")
    fitting = read_with_codes(model, input_dims={"x": (2, 3, 5, 2)})
    assert fitting.report.notes == ()


def test_a_symbol_is_bound_everywhere(onnx_model: Make) -> None:
    node = helper.make_node("Add", ["x", "z"], ["y"])
    model = onnx_model([node], {"x": ("N", "L"), "z": ("N", "L")}, ["y"])
    network = read(model, input_dims={"x": (2, 7)})
    assert network.tensors["z"].shape == (2, 7)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"q": (1, 3)}, "unknown input of model 'small' 'q'"),
        ({"x": (1, 3)}, "has 2 dimensions, model 'small' has 4 there"),
        ({"x": (1, 3, 0, 8)}, "must have sizes of at least 1"),
    ],
)
def test_wrong_shapes(given: dict[str, tuple[int, ...]], sentence: str, onnx_model: Make) -> None:
    with pytest.raises(HexsimError, match=sentence):
        read(_model(onnx_model, ("N", 3, 8, 8)), input_dims=given)


def test_an_input_without_shape(onnx_model: Make) -> None:
    model = _model(onnx_model, (1,))
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(HexsimError, match="has no shape; give one with input_dims="):
        read(model)
    assert read(model, input_dims={"x": (1, 4)}).tensors["y"].shape == (1, 4)


def test_inputs_that_are_no_tensors_or_not_there(onnx_model: Make) -> None:
    model = _model(onnx_model, (1, 4))
    model.graph.input[0].type.CopyFrom(
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [1]))
    )
    with pytest.raises(HexsimError, match="is no tensor but a sequence"):
        read(model)
    del model.graph.input[:]
    with pytest.raises(HexsimError, match="has no input"):
        read(model)
