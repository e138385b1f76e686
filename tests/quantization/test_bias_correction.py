"""Means of quantised layers are those of float after correction.

A quantised network in floats is what the integer kernels make of it, but for their sums.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import NO_CLAMP
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.bias_correction import Codes, correct_biases, run_rounded
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.deployed import planned
from tests.quantization.equalization.made import Made, inputs

OPTIONS = QuantizationOptions(bias_bits=32, weight_bits=4)

Run = Callable[[dict[str, FloatArray]], dict[str, FloatArray]]


@pytest.fixture(scope="module")
def network() -> Network:
    """Coarse weights on inputs with a mean, so that rounding shifts every channel."""
    return Made(3).conv("a", 8, kernel=3).conv("b", 8).conv("c", 4, clamp=NO_CLAMP).network()


def _feeds() -> list[dict[str, FloatArray]]:
    return [{"in": feed["in"] + 1} for feed in inputs(8)]


def _integers(model: Model) -> Run:
    plan = planned(model, "dsp")
    return PlanExecutor(plan, model).run


def _means(run: Run) -> np.ndarray:
    return np.mean([run(feed)["c.y"] for feed in _feeds()], axis=(0, 1, 2, 3))


def test_the_integer_network_has_the_means_of_float(network: Network) -> None:
    """Were later layers not to see corrected earlier ones, they would correct the same twice."""
    model = quantize(network, _feeds(), OPTIONS)
    done: list[int] = []
    corrected, corrections = correct_biases(model, _feeds, OPTIONS, done.append)
    wanted, step = _means(FloatEngine(network).run), model.activations["c.y"].delta
    before, after = (np.abs(_means(_integers(m)) - wanted).max() for m in (model, corrected))
    assert before > 3 * step
    assert after < 0.5 * step
    assert [correction.layer for correction in corrections] == ["a", "b", "c"]
    assert max(correction.steps for correction in corrections) > 1
    assert done == [1, 2, 3]
    assert corrected.activations == model.activations


def test_an_8_bit_bias_gets_the_encoding_of_its_new_values(network: Network) -> None:
    options = QuantizationOptions()
    model = quantize(network, _feeds(), options)
    corrected, _ = correct_biases(model, _feeds, options)
    for name in ("a.b", "b.b", "c.b"):
        values, encoding = corrected.network.constants[name].value(), corrected.parameters[name]
        back = encoding.dequantize(encoding.quantize(values))
        assert np.abs(back - values).max() <= 0.51 * encoding.delta  # type: ignore[union-attr]
        assert not np.array_equal(values, network.constants[name].value())


def test_a_layer_with_float_weights_is_left_alone(network: Network) -> None:
    model = quantize(network, _feeds(), OPTIONS)
    parameters = {name: e for name, e in model.parameters.items() if name != "b.w"}
    corrected, corrections = correct_biases(replace(model, parameters=parameters), _feeds, OPTIONS)
    assert [correction.layer for correction in corrections] == ["a", "c"]
    old, new = (n.constants["b.b"].value() for n in (network, corrected.network))
    np.testing.assert_array_equal(old, new)


def test_a_layer_without_bias_gets_one() -> None:
    network = Made(3).conv("a", 8, bias=False).network()
    model = quantize(network, _feeds(), OPTIONS)
    corrected, _ = correct_biases(model, _feeds, OPTIONS)
    (layer,) = corrected.network.layers
    assert layer.parameters == ("a.w", "a.bias")
    assert np.any(corrected.network.constants["a.bias"].value())


def test_layers_agree_with_the_integer_kernels_within_one_step() -> None:
    network = Made().conv("a", 8, kernel=3).pool().conv("b", 4).network()
    model = quantize(network, inputs())
    executor = PlanExecutor(planned(model, "dsp"), model)
    codes = Codes(model)
    for feed in inputs():
        codes.add("in", feed["in"])
    for layer in network.layers:
        for output in run_rounded(layer, model, codes):
            codes.add(layer.output, output[layer.output])
    outputs = [feed["b.y"] for feed in codes.feeds(["b.y"])]
    step = model.activations["b.y"].delta
    for feed, got in zip(inputs(), outputs, strict=True):
        assert np.abs(executor.run(feed)["b.y"] - got).max() <= 1.01 * step
        assert np.ptp(got) > 50 * step


def test_what_nobody_reads_any_more_is_forgotten() -> None:
    model = quantize(Made().conv("a", 8).network(), inputs())
    codes = Codes(model)
    for feed in inputs(2):
        codes.add("in", feed["in"])
    assert len(list(codes.feeds(["in"]))) == 2
    codes.forget_all_but({"a.y"})
    with pytest.raises(KeyError):
        list(codes.feeds(["in"]))
