"""Float layers among integer ones compute exactly what their parts do one by one."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from hexsim.execution import mixed_subnet as mixed_execution
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Convert
from hexsim.onnx_io.float_engine import FloatEngine, Precision
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import Runtime
from tests.deployed import planned
from tests.mixed import chain, feeds, mixed

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
