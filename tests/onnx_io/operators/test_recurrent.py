"""States of recurrent layers, and the forms that are left out, equal to onnxruntime."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim import load
from hexsim.errors import HexsimError
from hexsim.layers import Opaque, Recurrent

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


def test_several_steps_that_show_their_cell_are_left_out(onnx_model: Make, agree: Callable) -> None:
    proto = node("LSTM", ["x", "w", "r"], ["", "", "y"], hidden_size=4)
    given = {name: array for name, array in weights(4).items() if name in "wr"}
    (layer,) = agree(onnx_model([proto], {"x": (5, 2, 3)}, ["y"], given)).read.layers
    assert isinstance(layer, Opaque)


def test_lengths_that_are_all_steps_say_nothing(onnx_model: Make, agree: Callable) -> None:
    proto = node("RNN", ["x", "w", "r", "", "n"], ["y"], hidden_size=4)
    given = {name: array for name, array in weights(1).items() if name in "wr"}
    for lengths, kind in (([5, 5], Recurrent), ([5, 4], Opaque)):
        numbers = {"n": np.array(lengths, np.int32)}
        model = onnx_model([proto], {"x": (5, 2, 3)}, ["y"], {**given, **numbers})
        assert isinstance(agree(model).read.layers[0], kind)
