"""States of recurrent layers, and the forms that are left out, equal to onnxruntime."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from hexsim import load
from hexsim.errors import HexsimError
from hexsim.layers import Opaque, Recurrent
from hexsim.onnx_io.read.reader import read_with_codes

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)


def weights(gates: int, directions: int = 1) -> dict:
    return {
        "w": rng.standard_normal((directions, gates * 4, 3)),
        "r": rng.standard_normal((directions, gates * 4, 4)),
        "b": rng.standard_normal((directions, gates * 8)),
        "zero": np.zeros((directions, 2, 4)),
    }


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_the_last_state_is_a_slice(direction: str, onnx_model: Make, agree: Callable) -> None:
    given = weights(3, 2 if direction == "bidirectional" else 1)
    proto = node(
        "GRU", ["x", "w", "r", "b", "", "zero"], ["", "y"], hidden_size=4, direction=direction
    )
    network = agree(onnx_model([proto], {"x": (5, 2, 3)}, ["y"], given)).optimized
    (layer,) = (layer for layer in network.layers if isinstance(layer, Recurrent))
    assert layer.initial == ()
    assert not any(isinstance(layer, Opaque) for layer in network.layers)


@pytest.mark.parametrize("states", [[], ["h"], ["h", "c"]])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_one_step_of_an_lstm_shows_its_cell(
    states: list[str], direction: str, onnx_model: Make, agree: Callable
) -> None:
    proto = node(
        "LSTM",
        ["x", "w", "r", "b", *([""] if states else []), *states],
        ["all", "last", "cell"],
        hidden_size=4,
        direction=direction,
    )
    shapes = {"x": (1, 2, 3), **dict.fromkeys(states, (1, 2, 4))}
    given = {name: array for name, array in weights(4).items() if name != "zero"}
    layers = agree(onnx_model([proto], shapes, ["all", "last", "cell"], given)).optimized.layers
    assert not any(isinstance(layer, Opaque | Recurrent) for layer in layers)


def test_weights_of_two_axes_are_none(onnx_model: Make, tmp_path: Path) -> None:
    proto = node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)
    given = {"w": np.zeros((16, 3), np.float32), "r": np.zeros((1, 16, 4), np.float32)}
    onnx.save(onnx_model([proto], {"x": (5, 2, 3)}, ["y"], given), tmp_path / "m.onnx")
    with pytest.raises(HexsimError, match="'w' has 2 axes, not 3; export the model again"):
        load(tmp_path / "m.onnx")


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def sequences(operator: str, direction: str, lengths: list[int], outputs: list[str]) -> tuple:
    """A node with lengths and initial states, and its constants: 5 steps of 3 inputs, 4 units."""
    directions = 2 if direction == "bidirectional" else 1
    given = weights(GATES[operator], directions)
    del given["zero"]
    given["n"] = np.array(lengths, np.int32)
    given["h"] = rng.standard_normal((directions, len(lengths), 4))
    states = ["h", "c"] if operator == "LSTM" else ["h"]
    names = ["x", "w", "r", "b", "n", *states]
    return node(operator, names, outputs, hidden_size=4, direction=direction), given


@pytest.mark.parametrize("operator", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [4, 4]])
def test_lengths_are_layers_of_their_own(
    operator: str, direction: str, lengths: list[int], onnx_model: Make, agree: Callable
) -> None:
    proto, given = sequences(operator, direction, lengths, ["y", "last"])
    shapes: dict = {"x": (5, len(lengths), 3)}
    if operator == "LSTM":
        shapes["c"] = (2 if direction == "bidirectional" else 1, len(lengths), 4)
    model = onnx_model([proto], shapes, ["y", "last"], given)
    network = agree(model).optimized
    assert not any(isinstance(layer, Opaque) for layer in network.layers)
    counted = [layer for layer in network.layers if isinstance(layer, Recurrent)]
    assert len(counted) == len(set(lengths))
    assert len({layer.weight for layer in counted}) == 1
    assert sum(layer.name == proto.output[0] for layer in network.layers) == 1


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("lengths", [[5, 5], [5, 2], [3, 3]])
@pytest.mark.parametrize("outputs", [["", "", "cell"], ["y", "last", "cell"]])
def test_several_steps_of_an_lstm_show_their_last_cell(
    direction: str, lengths: list[int], outputs: list[str], onnx_model: Make, agree: Callable
) -> None:
    proto, given = sequences("LSTM", direction, lengths, outputs)
    shapes = {"x": (5, 2, 3), "c": (2 if direction == "bidirectional" else 1, 2, 4)}
    model = onnx_model([proto], shapes, [name for name in outputs if name], given)
    layers = agree(model).optimized.layers
    assert not any(isinstance(layer, Opaque | Recurrent) for layer in layers)


def test_more_steps_than_can_be_written_out_are_left_out(onnx_model: Make, agree: Callable) -> None:
    proto = node("LSTM", ["x", "w", "r"], ["", "", "y"], hidden_size=4)
    given = {name: array for name, array in weights(4).items() if name in "wr"}
    model = onnx_model([proto], {"x": (129, 2, 3)}, ["y"], given)
    assert isinstance(agree(model).read.layers[0], Opaque)
    (reason,) = (opaque.reason for opaque in read_with_codes(model).report.opaque)
    assert "is supported for at most 128 steps, and it has 129" in reason


def test_lengths_that_vary_are_left_out_with_a_reason_and_can_be_given(
    onnx_model: Make, tmp_path: Path
) -> None:
    proto = node("GRU", ["x", "w", "r", "", "n"], ["y"], hidden_size=4)
    given = {name: array for name, array in weights(3).items() if name in "wr"}
    model = onnx_model([proto], {"x": (5, 2, 3)}, ["y"], given)
    value = helper.make_tensor_value_info("n", onnx.TensorProto.INT32, [2])
    model.graph.input.append(value)
    (opaque,) = read_with_codes(model).report.opaque
    assert "the lengths of its sequences, 'n', are not known before" in opaque.reason
    network = read_with_codes(model, input_values={"n": [5, 2]}).network
    assert not any(isinstance(layer, Opaque) for layer in network.layers)
    model.graph.initializer.append(numpy_helper.from_array(np.array([5, 0], np.int32), "n"))
    model.graph.input.remove(value)
    (opaque,) = read_with_codes(model).report.opaque
    assert "say that one has no steps" in opaque.reason


def test_lengths_beyond_the_steps_are_refused(onnx_model: Make) -> None:
    proto = node("RNN", ["x", "w", "r", "", "n"], ["y"], hidden_size=4)
    given = {name: array for name, array in weights(1).items() if name in "wr"}
    given["n"] = np.array([5, 6], np.int32)
    model = onnx_model([proto], {"x": (5, 2, 3)}, ["y"], given)
    with pytest.raises(HexsimError, match=r"the lengths 'n' are \[5, 6\]; expected 2 from 0 to 5"):
        read_with_codes(model)


def test_lengths_that_are_all_steps_say_nothing(onnx_model: Make, agree: Callable) -> None:
    proto = node("RNN", ["x", "w", "r", "", "n"], ["y"], hidden_size=4)
    given = {name: array for name, array in weights(1).items() if name in "wr"}
    given["n"] = np.array([5, 5], np.int32)
    layers = agree(onnx_model([proto], {"x": (5, 2, 3)}, ["y"], given)).read.layers
    assert [type(layer) for layer in layers] == [Recurrent]
