"""Changed axes keep the values, changed channels have the shapes of a file written that way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, helper

from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.layers import Convolution, Permute, Pooling, Reduce
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import Overrides
from hexsim.studies.changes import (
    as_poolings,
    changed_inputs,
    changed_layers,
    changed_model,
    moved_back,
    moved_forward,
)
from hexsim.studies.decision.channels import changes_of, with_channels
from tests.studies.test_changes import saved

node = helper.make_node
SHAPE = [1, 2, 3, 4]
PLATFORM = Platform.load("sd855")
FEED = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2) - 11

FORWARD = [
    node("Sqrt", ["x"], ["rows"], "rows"),
    node("Transpose", ["rows"], ["t"], "first", perm=[0, 2, 1]),
    node("Mul", ["t", "scale"], ["m"], "mul"),
    node("Sigmoid", ["m"], ["s"], "sig"),
    node("Concat", ["s", "s"], ["j"], "join", axis=1),
    node("Transpose", ["j"], ["u"], "second", perm=[0, 2, 1]),
    node("Sqrt", ["u"], ["y"], "last"),
]
"""Two transposes with three layers between them: the constant and the axis of the join turn."""
ROWS = [1, 6, 4]


def permutes(network: Network) -> list[str]:
    return [layer.name for layer in network.layers if isinstance(layer, Permute)]


def answer(model: Model, x: np.ndarray) -> np.ndarray:
    (y,) = deploy(model, PLATFORM, "cpu").executor().run({"x": x}).values()
    return y


def turned(network: Network, copy: Network) -> np.ndarray:
    """FEED as the copy stores it."""
    old, new = network.tensors["x"], copy.tensors["x"]
    return new.from_source(old.to_source(FEED))


@pytest.mark.parametrize("move", [moved_forward, moved_back])
def test_transposes_around_layers_vanish(
    tmp_path: Path, move: Callable[[Network], Network | None]
) -> None:
    weights = {"scale": [[[1.0], [-2.0], [3.0], [0.5]]]}
    model = saved(tmp_path / "m.onnx", FORWARD, weights, ROWS)  # type: ignore[arg-type]
    feed = {"x": np.arange(24, dtype=np.float32).reshape(model.network.shape("x"))}
    assert permutes(model.network) == ["first", "second"]
    copy = move(model.network)
    assert copy is not None
    copy.check()
    assert permutes(copy) == []
    assert changed_layers(model.network, copy)
    assert np.array_equal(answer(model, feed["x"]), answer(Model(copy), feed["x"]))
    coded = quantize_optimized(
        model.network, lambda: [feed], QuantizationOptions(), (), Overrides({})
    ).model
    changed = move(coded.network)
    assert changed is not None
    answers = [
        deploy(each, PLATFORM, "dsp").executor().run(feed)["y"]
        for each in (coded, changed_model(coded, changed))
    ]
    assert np.array_equal(*answers)


def test_an_input_is_stored_in_the_order_of_its_reader(tmp_path: Path) -> None:
    nodes = [
        node("Mul", ["x", "scale"], ["m"], "mul"),
        node("Transpose", ["m"], ["t"], "turn", perm=[0, 3, 1, 2]),
        node("Conv", ["t", "w"], ["y"], "conv"),
    ]
    weights = {"scale": [2.0], "w": np.ones((2, 4, 1, 1))}
    model = saved(tmp_path / "m.onnx", nodes, weights, SHAPE)  # type: ignore[arg-type]
    copy = moved_back(model.network)
    assert copy is not None
    copy.check()
    assert (permutes(model.network), permutes(copy)) == (["turn"], [])
    assert copy.tensors["x"].source_shape == model.network.tensors["x"].source_shape
    assert changed_inputs(model.network, copy) == "input 'x' stored as 1x2x3x4"
    x = turned(model.network, copy)
    assert np.array_equal(answer(model, FEED), answer(Model(copy), x))


def test_permutes_that_cannot_vanish_stay(tmp_path: Path) -> None:
    nodes = [
        node("Add", ["x", "x"], ["rows"], "rows"),
        node("Sqrt", ["rows"], ["root"], "root"),
        node("Transpose", ["rows"], ["t"], "turn", perm=[0, 2, 1]),
        node("MatMul", ["root", "t"], ["y"], "products"),
    ]
    network = saved(tmp_path / "m.onnx", nodes, {}, ROWS).network
    assert moved_forward(network) is moved_back(network) is None


def test_a_mean_of_rows_is_a_pooling(tmp_path: Path) -> None:
    nodes = [node("ReduceMean", ["x"], ["y"], "mean", axes=[2])]
    model = saved(tmp_path / "m.onnx", nodes, {}, SHAPE)
    assert isinstance(model.network.layers[0], Reduce)
    copy = as_poolings(model.network)
    assert copy is not None
    copy.check()
    (pooling,) = copy.layers
    assert isinstance(pooling, Pooling)
    assert pooling.window.kernel == (3, 1)
    assert answer(Model(copy), FEED).tolist() == FEED.mean(axis=1, keepdims=True).tolist()
    assert as_poolings(copy) is None


def wide(path: Path, channels: int, *, last: int = 40) -> Model:
    """A convolution, a depthwise one that is added to what it reads, and another convolution."""
    rng = np.random.default_rng(2)
    nodes: list[NodeProto] = [
        node("Conv", ["x", "w"], ["a"], "wide"),
        node("Conv", ["a", "d"], ["b"], "deep", group=channels, pads=[1, 1, 1, 1]),
        node("Add", ["a", "b"], ["c"], "add"),
        node("Mul", ["c", "scale"], ["e"], "mul"),
        node("Conv", ["e", "v"], ["y"], "last"),
    ]
    weights = {
        "w": rng.normal(size=(channels, 2, 1, 1)),
        "d": rng.normal(size=(channels, 1, 3, 3)),
        "scale": rng.normal(size=(1, channels, 1, 1)),
        "v": rng.normal(size=(last, channels, 1, 1)),
    }
    return saved(path, nodes, weights, SHAPE)  # type: ignore[arg-type]


def test_channels_that_layers_join_become_fewer_together(tmp_path: Path) -> None:
    model = wide(tmp_path / "m.onnx", 33)
    proposed = [change for change in changes_of(model.network, "dsp") if "channels" in change.name]
    assert [(change.name, change.remark) for change in proposed] == [
        ("33 channels as 32", "64 are computed")
    ], "the output keeps its 40"
    copy = proposed[0].make(model.network)
    assert copy is not None
    copy.check()
    assert changed_layers(model.network, copy) == tuple(
        layer.name for layer in model.network.layers
    )
    written = wide(tmp_path / "w.onnx", 32).network
    for layer, other in zip(copy.layers, written.layers, strict=True):
        assert copy.layer_outputs(layer) == written.layer_outputs(other)
        assert copy.parameter_count(layer) == written.parameter_count(other)
        if isinstance(layer, Convolution):
            assert (layer.groups, layer.window) == (other.groups, other.window)  # type: ignore[attr-defined]
    options = QuantizationOptions(axis_weights=True)
    times = []
    for network in (model.network, written):
        coded = quantize_optimized(network, lambda: [{"x": FEED}], options, (), Overrides({})).model
        if network is model.network:
            made = proposed[0].make(coded.network)
            assert made is not None
            coded = changed_model(coded, made)
        times.append(deploy(coded, PLATFORM, "dsp").simulate().total_us)
    assert times[0] == times[1]


@pytest.mark.parametrize("channels", [32, 48, 20])
def test_even_and_much_smaller_numbers_of_channels_stay(tmp_path: Path, channels: int) -> None:
    network = wide(tmp_path / "m.onnx", channels).network
    assert not [change for change in changes_of(network, "dsp") if "channels" in change.name]


def test_an_engine_that_does_not_pad_has_no_change_of_channels(tmp_path: Path) -> None:
    network = wide(tmp_path / "m.onnx", 33).network
    assert not [change for change in changes_of(network, "cpu") if "channels" in change.name]


def test_more_channels_repeat_the_first_ones(tmp_path: Path) -> None:
    network = wide(tmp_path / "m.onnx", 33).network
    copy = with_channels(dict.fromkeys(("a", "b", "c", "e"), 64), network)
    copy.check()
    first = copy.layers[0]
    assert isinstance(first, Convolution)
    values = copy.constants[first.weight].value()
    assert np.array_equal(values[..., 33:], values[..., :31])
