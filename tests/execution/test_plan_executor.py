"""Plans execute: inputs are checked, subnets hand floats to one another.

Float layers among integer ones compute exactly what their parts do one by one.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.datasheets.chips import SignedKernels
from hexsim.dlc import reader, writer
from hexsim.errors import HexsimError
from hexsim.execution import plan_executor as mixed_execution
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.stored import stored_inputs
from hexsim.layers import Convert, Opaque
from hexsim.onnx_io.float_engine import FloatEngine, Precision
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.planning.plan import Plan
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import Runtime
from tests.deployed import planned
from tests.int8.single_layer import SIGNED
from tests.mixed import chain, feeds, mixed


@pytest.fixture(scope="module")
def network() -> Network:
    """Convolution, an operator only the CPU has (Erf), convolution of asymmetric weights."""
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32),
        "w2": rng.normal(0.3, 0.3, (4, 8, 1, 1)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu1"),
        helper.make_node("Atan", ["b"], ["c"], "erf"),
        helper.make_node("Conv", ["c", "w2"], ["y"], "conv2"),
    ]
    graph = helper.make_graph(
        nodes,
        "mixed",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 6, 5])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return optimize(read(model))


def _feeds(network: Network, count: int) -> list[dict[str, np.ndarray]]:
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    return [stored_inputs(network, seeded_input_) for seeded_input_ in seeded_inputs(shapes, count)]


def _on_aip(network: Network, *sections: range) -> Plan:
    names = [[network.layers[at].name for at in section] for section in sections]
    return planned(network, "aip", sections=names)


@pytest.mark.parametrize("bits", [8, 16])
def test_the_tensor_engine_takes_asymmetric_weights_as_they_are(
    network: Network, bits: int
) -> None:
    """So its codes are those of kernels without rescaling, and not those of HVX V65."""
    feeds = _feeds(network, 4)
    model = quantize(network, feeds, QuantizationOptions(activation_bits=bits))
    convs = [at for at, layer in enumerate(network.layers) if layer.type == "convolutional"]
    sections = [range(at, at + 1) for at in convs]

    def outputs(plan: Plan, kernels: SignedKernels | None) -> list[np.ndarray]:
        executor = PlanExecutor(plan, model, signed_kernels=kernels)
        return [executor.run(feed)["y"] for feed in feeds]

    on_hta = outputs(_on_aip(network, *sections), SIGNED)
    unsigned, rescaled = (outputs(_on_aip(network), each) for each in (None, SIGNED))
    assert all(map(np.array_equal, on_hta, unsigned))
    assert not all(map(np.array_equal, on_hta, rescaled))


def test_codes_survive_every_cut_between_the_engines(network: Network) -> None:
    """Floats between subnets are the codes in other words: a cut changes no output."""
    feeds = _feeds(network, 4)
    model = quantize(network, feeds)
    whole = PlanExecutor(_on_aip(network), model)
    for first in range(len(network.layers)):
        if isinstance(network.layers[first], Opaque):
            continue
        cut = PlanExecutor(_on_aip(network, range(first, first + 1)), model)
        for feed in feeds:
            assert np.array_equal(cut.run(feed)["y"], whole.run(feed)["y"])


def test_fallback_subnets_really_run_between_integer_ones(network: Network) -> None:
    plan = planned(network, "dsp")
    assert [subnet.runtime for subnet in plan.subnets] == ["dsp", "cpu", "dsp"]
    feeds = _feeds(network, 4)
    executor = PlanExecutor(plan, quantize(network, feeds))
    for feed in feeds:
        expected = FloatEngine(network).run(feed)["y"]
        got = executor.run(feed)["y"]
        assert got.shape == expected.shape == (1, 6, 5, 4)
        assert 0 < np.abs(got - expected).max() < 0.05 * np.ptp(expected)


def test_signed_weights_change_codes_not_meaning(network: Network) -> None:
    plan = planned(network, "dsp")
    feeds = _feeds(network, 2)
    quantized = quantize(network, feeds)
    unsigned, signed = (
        PlanExecutor(plan, quantized, signed_kernels=each).run(feeds[0])["y"]
        for each in (None, SIGNED)
    )
    assert np.abs(unsigned - signed).max() < 0.05 * np.ptp(unsigned)


def test_float_runtimes_need_no_encodings(network: Network) -> None:
    feed = _feeds(network, 1)[0]
    expected = FloatEngine(network).run(feed)["y"]
    outputs = {
        runtime: PlanExecutor(planned(network, runtime), Model(network)).run(feed)["y"]
        for runtime in ("cpu", "gpu", "gpu_fp16")
    }
    np.testing.assert_array_equal(outputs["cpu"], expected)
    assert 0 < np.abs(outputs["gpu"] - expected).max() < 0.01 * np.ptp(expected)


def test_integer_runtimes_do(network: Network) -> None:
    plan = planned(network, "dsp")
    with pytest.raises(HexsimError, match="computes in integers"):
        PlanExecutor(plan, Model(network))


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, "has the inputs x; got none"),
        ({"x": np.zeros((1, 3, 6, 5)), "z": np.zeros(1)}, "got x, z"),
        ({"x": np.zeros((1, 6, 5, 3))}, "shape 1x6x5x3, the model expects 1x3x6x5"),
        ({"x": np.array([["a"]])}, "dtype <U1"),
        ({"x": np.full((1, 3, 6, 5), np.inf)}, "NaN or infinite"),
    ],
)
def test_unusable_inputs_are_named(
    network: Network, arrays: dict[str, np.ndarray], sentence: str
) -> None:
    with pytest.raises(HexsimError, match=sentence):
        stored_inputs(network, arrays)


def _with_constant_operands() -> Network:
    """Convolution times a constant; beside it a slice of it, scaled and moved by constants."""
    rng = np.random.default_rng(2)
    weights = {
        "w": rng.normal(0, 0.3, (16, 3, 3, 3)),
        "c": rng.uniform(0.5, 2, (1, 16, 24, 20)),
        "scale": rng.uniform(0.5, 2, (1, 8, 24, 20)),
        "move": rng.normal(0, 1, (1, 8, 24, 20)),
    }
    integers = {"starts": [4], "ends": [12], "axes": [1]}
    constants = {name: value.astype(np.float32) for name, value in weights.items()}
    constants |= {name: np.array(value, np.int64) for name, value in integers.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("Mul", ["b", "c"], ["y"], "product"),
        helper.make_node("Slice", ["b", *integers], ["part"], "slice"),
        helper.make_node("Mul", ["part", "scale"], ["scaled"], "scaling"),
        helper.make_node("Add", ["scaled", "move"], ["boxes"], "moving"),
    ]
    graph = helper.make_graph(
        nodes,
        "constants",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 24, 20])],
        [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in ("y", "boxes")],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return optimize(read(model))


@pytest.mark.parametrize("bits", [8, 16])
def test_an_executor_needs_no_file_once_it_is_made(tmp_path: Path, bits: int) -> None:
    """Codes of a file are remembered for as long as somebody holds them: here, the executor."""
    network = _with_constant_operands()
    feeds = _feeds(network, 2)
    model = quantize(network, feeds, QuantizationOptions(activation_bits=bits))
    plan = planned(network)
    executor = PlanExecutor(plan, model)
    expected = [executor.run(feed) for feed in feeds]
    writer.write(tmp_path / "model.dlc", model)

    from_file = reader.read(tmp_path / "model.dlc").model
    executor = PlanExecutor(planned(network), from_file)
    del from_file
    gc.collect()
    churned = [np.full(2 << at, 255, np.uint8) for at in range(6, 20) for _ in range(20)]
    for feed, outputs in zip(feeds, expected, strict=True):
        computed = executor.run(feed)
        for name, array in outputs.items():
            assert np.unique(array).size > 50
            np.testing.assert_array_equal(computed[name], array, err_msg=name)
    assert len(churned) == 14 * 20


Feed = dict[str, FloatArray]


def run(model: Model, feed: Feed, runtime: Runtime = "dsp") -> FloatArray:
    plan = planned(model, runtime)
    return PlanExecutor(plan, model).run(feed)["conv3.y"]


def in_integers(model: Model, name: str, array: FloatArray) -> FloatArray:
    """One layer alone in the integer kernels, on the reals of its operand."""
    layer = next(layer for layer in model.network.layers if layer.name == name)
    part = model.network.subnetwork([layer], layer.inputs, layer.outputs)
    alone = Model(part, model.activations, model.parameters, quantized=True)
    plan = planned(alone, "dsp")
    return PlanExecutor(plan, alone).run({layer.inputs[0]: array})[layer.output]


def in_floats(model: Model, name: str, array: FloatArray) -> FloatArray:
    """One layer alone in onnxruntime."""
    layer = next(layer for layer in model.network.layers if layer.name == name)
    part = model.network.subnetwork([layer], layer.inputs, layer.outputs)
    return FloatEngine(part).run({layer.inputs[0]: array})[layer.output]


def half(array: FloatArray) -> FloatArray:
    return array.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("runtime", ["dsp", "fxp_cpu"])
def test_the_worked_example_by_hand(bits: Literal[16, 32], runtime: Runtime) -> None:
    """conv1 and conv3 in integers, conv2 float, a Convert layer before it and one behind."""
    model = mixed(bits)
    assert [(layer.type, layer.name) for layer in model.network.layers] == [
        ("convolutional", "conv1"),
        ("convert", f"conv1.y_convert_Float_{bits}"),
        ("convolutional", "conv2"),
        ("convert", "conv2.y_convert_uFxp_8"),
        ("neuron", "tanh"),
        ("convolutional", "conv3"),
    ]
    stored = half if bits == 16 else (lambda array: array)
    weights = {n: stored(model.network.constants[n].value()) for n in ("conv2.w", "conv2.b")}
    rounded = model.network.with_layers(
        model.network.layers,
        constants=[model.network.constants[n].derive(a.shape, lambda _, a=a: a)
                   for n, a in weights.items()],
    )  # fmt: skip
    floats = Model(rounded)
    code = model.activations["conv2.y_convert_uFxp_8"]
    for feed in feeds():
        first = in_integers(model, "conv1", feed["in"])
        second = stored(in_floats(floats, "conv2", stored(first)))
        codes = code.dequantize(code.quantize(second))
        by_hand = in_integers(model, "conv3", in_integers(model, "tanh", codes))
        assert np.ptp(by_hand) > 20 * model.activations["conv3.y"].delta
        np.testing.assert_array_equal(run(model, feed, runtime), by_hand)


def test_halves_differ_from_singles_and_both_from_codes() -> None:
    """A float requantise stage, so that no codes behind it hide the difference."""
    stage = ("conv2.y", "tanh.y", "conv3.y")
    halves, singles, codes = mixed(16, *stage), mixed(32, *stage), quantize(chain(), feeds())
    feed = feeds()[0]
    exact = FloatEngine(chain()).run(feed)["conv3.y"]
    answers = {name: run(m, feed) for name, m in [("16", halves), ("32", singles), ("8", codes)]}
    np.testing.assert_array_equal(answers["16"], half(answers["16"]))
    assert not np.array_equal(answers["32"], half(answers["32"]))
    gap = np.abs(answers["16"] - answers["32"]).max()
    assert 0 < gap < np.abs(answers["8"] - exact).max()


@pytest.mark.parametrize("bias_bits", [16, 32])
def test_the_bias_of_a_half_layer_has_its_own_width(bias_bits: Literal[16, 32]) -> None:
    keys = {name: FloatOverride(16) for name in ("conv1.y", "conv2.y", "tanh.y", "conv3.y")}
    options = QuantizationOptions(float_bias_bits=bias_bits)
    model = quantize(chain(), feeds(), options, overrides=Overrides(keys))
    constants = [
        constant.derive(constant.shape, half)  # type: ignore[arg-type]
        for name, constant in chain().constants.items()
        if name.endswith(".w") or bias_bits == 16
    ]
    network = chain().with_layers(chain().layers, constants=constants)
    expected = FloatEngine(network, precision="half_results").run(feeds()[0])["conv3.y"]
    np.testing.assert_array_equal(run(model, feeds()[0]), expected)


def test_a_float_network_input_is_read_as_it_comes() -> None:
    model = mixed(32, "conv1.y")
    assert isinstance(model.network.layers[1], Convert)
    assert model.network.layers[0].name == "conv1"
    feed = feeds()[0]
    code = model.activations["conv1.y_convert_uFxp_8"]
    value = code.dequantize(code.quantize(in_floats(model, "conv1", feed["in"])))
    for name in ("conv2", "tanh", "conv3"):
        value = in_integers(model, name, value)
    np.testing.assert_array_equal(run(model, feed), value)


def test_a_coded_input_is_rounded_before_a_float_layer() -> None:
    """`in` is read in integers by nobody, but its codes were asked for."""
    narrow = IntegerOverride(8, (Range(-1.0, 1.0),))
    keys = {
        "in": narrow,
        **{n: FloatOverride(32) for n in ("conv1.y", "conv2.y", "tanh.y", "conv3.y")},
    }
    model = quantize(chain(), feeds(), overrides=Overrides(keys))
    feed = feeds()[0]
    code = model.activations["in"]
    expected = FloatEngine(chain()).run({"in": code.dequantize(code.quantize(feed["in"]))})
    np.testing.assert_array_equal(run(model, feed), expected["conv3.y"])


def test_floats_of_two_widths_are_converted_too() -> None:
    keys = {"conv2.y": FloatOverride(16), "tanh.y": FloatOverride(32), "conv3.y": FloatOverride(32)}
    model = quantize(chain(), feeds(), overrides=Overrides(keys))
    names = [layer.name for layer in model.network.layers if isinstance(layer, Convert)]
    assert names == ["conv1.y_convert_Float_16", "conv2.y_convert_Float_32"]
    assert np.isfinite(run(model, feeds()[0])).all()


@pytest.mark.parametrize("runtime", ["cpu", "gpu"])
def test_float_runtimes_compute_all_in_floats(runtime: Runtime) -> None:
    """With the constants that the file holds; codes of tensors and Convert layers do nothing."""
    feed, model = feeds()[0], mixed(16)
    network = chain()
    network = network.with_layers(network.layers, constants=model.as_stored.constants.values())
    expected = PlanExecutor(planned(network, runtime), Model(network)).run(feed)["conv3.y"]
    np.testing.assert_allclose(
        run(model, feed, runtime), expected, atol=1e-3 if runtime == "gpu" else 0
    )
    assert not np.array_equal(expected, FloatEngine(chain()).run(feed)["conv3.y"])


def test_threads_reach_the_float_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    engine = mixed_execution.FloatEngine

    def noted(network: Network, outputs: None, precision: Precision, threads: int) -> FloatEngine:
        given.append(threads)
        return engine(network, outputs, precision, threads)

    monkeypatch.setattr(mixed_execution, "FloatEngine", noted)
    model = mixed(32)
    plan = planned(model, "dsp")
    PlanExecutor(plan, model, threads=3)
    assert set(given) == {3}
