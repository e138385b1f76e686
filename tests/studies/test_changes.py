"""Changed copies have the values worked by hand, and the times of files written that way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.files import checkpoint
from hexsim.graph.ir import Network
from hexsim.inputs.source import seeded_source
from hexsim.layers import RELU, Convolution, Neuron, Reshape
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import Overrides
from hexsim.studies.changes import FIXED, LAYERS_CHANGES, Change, changed_model
from hexsim.studies.decision import Question, decide, parse_modes
from tests.conftest import make_model

BY_PIXEL, AS_RELU, HARD = LAYERS_CHANGES
SWISH = [
    helper.make_node("Sigmoid", ["c"], ["s"], "sig"),
    helper.make_node("Mul", ["c", "s"], ["a"], "mul"),
]


def saved(
    path: Path, nodes: list[NodeProto], weights: dict[str, object], shape: list[int]
) -> Model:
    """The model of a file with the input x and the output y."""
    onnx.save(make_model(nodes, {"x": shape}, ["y"], weights), path)  # type: ignore[arg-type]
    return load_container(str(path)).model


def made(change: Change, network: Network) -> Network:
    copy = change.make(network)
    assert copy is not None
    copy.check()
    return copy


def connected(path: Path) -> Model:
    """Two fully connected layers on an image of 1x2 pixels of two channels."""
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "w", "b"], ["f"], "first", transB=1),
        helper.make_node("Relu", ["f"], ["r"], "relu"),
        helper.make_node("Gemm", ["r", "v"], ["y"], "second", transB=1),
    ]
    weights = {"w": [[1.0, 2.0, 3.0, 4.0], [-1.0, 0.0, 0.0, 0.0]], "b": [0.5, 0.0]}
    return saved(path, nodes, {**weights, "v": [[2.0, 5.0]]}, [1, 2, 1, 2])


def test_fully_connected_layers_as_convolutions_keep_their_answers(tmp_path: Path) -> None:
    model = connected(tmp_path / "m.onnx")
    copy = made(BY_PIXEL, model.network)
    assert [type(layer) for layer in copy.layers] == [Reshape, Convolution, Convolution, Reshape]
    first = next(layer for layer in copy.layers if isinstance(layer, Convolution))
    assert (first.window.kernel, first.clamp) == ((1, 1), RELU)
    platform, feed = (
        Platform.load("sd855"),
        {"x": np.array([[[[1.0, 3.0], [2.0, 4.0]]]], np.float32)},
    )
    (answer,) = deploy(changed_model(model, copy), platform, "cpu").executor().run(feed).values()
    assert answer.tolist() == [[2 * 30.5 + 5 * 0.0]]
    for axis_weights in (False, True):
        options = QuantizationOptions(axis_weights=axis_weights)
        coded = quantize_optimized(model.network, lambda: [feed], options, (), Overrides({})).model
        changed = changed_model(coded, made(BY_PIXEL, coded.network))
        answers = [
            deploy(each, platform, "dsp").executor().run(feed)["y"] for each in (coded, changed)
        ]
        assert np.array_equal(*answers)


def swishing(path: Path, function: list[NodeProto]) -> Model:
    """A convolution, a function from c to a, and another convolution, of 64x64 pixels."""
    rng = np.random.default_rng(3)
    conv, last = (
        helper.make_node("Conv", inputs, outputs, name)
        for inputs, outputs, name in ((["x", "w"], ["c"], "conv"), (["a", "v"], ["y"], "last"))
    )
    weights = {"w": rng.normal(0.0, 0.2, (32, 3, 1, 1)), "v": rng.normal(0.0, 0.2, (8, 32, 1, 1))}
    return saved(path, [conv, *function, last], weights, [1, 3, 64, 64])  # type: ignore[arg-type]


def test_swish_becomes_relu_or_hard_swish(tmp_path: Path) -> None:
    network = swishing(tmp_path / "m.onnx", SWISH).network
    conv, last = made(AS_RELU, network).layers
    assert isinstance(conv, Convolution)
    assert (conv.clamp, conv.outputs, last.inputs) == (RELU, ("a",), ("a",))
    _, neuron, _ = made(HARD, network).layers
    assert isinstance(neuron, Neuron)
    assert neuron.values(np.array([-4.0, 0.0, 1.5, 4.0])).tolist() == [0.0, 0.0, 1.125, 4.0]
    assert BY_PIXEL.make(network) is None


def test_gates_become_hard_and_outputs_stay(tmp_path: Path) -> None:
    gate = [helper.make_node("Sigmoid", ["c"], ["a"], "gate")]
    network = swishing(tmp_path / "m.onnx", gate).network
    assert AS_RELU.make(network) is None, "a gate is no Relu"
    _, neuron, _ = made(HARD, network).layers
    assert isinstance(neuron, Neuron)
    assert neuron.values(np.array([-3.0, 0.0, 1.5, 4.0])).tolist() == [0.0, 0.5, 0.75, 1.0]
    probabilities = [helper.make_node("Sigmoid", ["x"], ["y"], "probabilities")]
    assert HARD.make(saved(tmp_path / "p.onnx", probabilities, {}, [1, 4]).network) is None


def test_a_decision_has_the_time_of_the_file_with_relu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "private_folder", lambda name: None)
    path = tmp_path / "m.onnx"
    network = swishing(path, SWISH).network
    platform, (modes, mixed) = Platform.load("sd855"), parse_modes("default")
    decided = decide(
        Question(
            source=str(path),
            read=load_container(str(path)),
            inputs=seeded_source(network),
            calibration=seeded_source(network),
            platforms=[platform],
            runtimes=["dsp"],
            modes=modes,
            mixed=mixed,
        )
    )
    relu = swishing(tmp_path / "relu.onnx", [helper.make_node("Relu", ["c"], ["a"], "sig")]).network
    source = seeded_source(relu)
    coded = quantize_optimized(relu, source.feeds, modes[0].options, (), Overrides({})).model
    (change,) = (change for change in decided.changes if change.name == AS_RELU.name)
    assert change.before_us == decided.choices[0].total_inference_us
    assert change.after_us == deploy(coded, platform, "dsp").simulate().total_us
    assert change.gain > 0.01
    assert (change.layers, change.same_answers) == (("sig",), False)


def test_a_layer_with_several_outputs_keeps_the_order_of_its_axes(tmp_path: Path) -> None:
    node = helper.make_node("LayerNormalization", ["x", "w"], ["y", "mean", "deviation"], axis=3)
    model = make_model([node], {"x": [2, 3, 4, 5]}, ["y", "mean"], {"w": np.ones(5, np.float32)})
    onnx.save(model, tmp_path / "several.onnx")
    network = load_container(str(tmp_path / "several.onnx")).model.network
    (several,) = (layer for layer in network.layers if len(layer.outputs) > 1)
    for changed in filter(None, (change.make(network) for change in FIXED)):
        (kept,) = (layer for layer in changed.layers if layer.name == several.name)
        assert (type(kept), kept.outputs) == (type(several), several.outputs)
        assert changed.shape(kept.inputs[0]) == network.shape(several.inputs[0])
