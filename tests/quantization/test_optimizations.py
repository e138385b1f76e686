"""Equalization before quantising, bias correction after it, and words that are refused.

Means of quantised layers are those of float after correction.

A quantised network in floats is what the integer kernels make of it, but for their sums.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import NO_CLAMP
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization import quantizer
from hexsim.quantization.calibration import Calibrated, observe
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.equalization import equalize
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import (
    Codes,
    Optimization,
    correct_biases,
    parse_optimizations,
    quantize_optimized,
    run_rounded,
)
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.quantizer import quantize
from tests.deployed import planned
from tests.quantization.equalization.made import Made, inputs


@pytest.mark.parametrize(
    "words", [["cle", "bc"], ["cle,bc"], ["bc", "cle"], [" bc , cle"], ["cle", "cle,bc"]]
)
def test_words(words: list[str]) -> None:
    assert parse_optimizations(words) == ("cle", "bc")


def test_refused_words() -> None:
    assert parse_optimizations([]) == ()
    with pytest.raises(HexsimError, match=r"unknown optimization 'cel'; did you mean cle\?"):
        parse_optimizations(["cel"])
    with pytest.raises(HexsimError, match=r"never run without .* give optimizations=..cle., .bc.."):
        parse_optimizations(["bc"])


def test_what_runs() -> None:
    network = Made().conv("a", 8, kernel=3).conv("b", 4).network()
    plain = quantize_optimized(network, inputs)
    assert (plain.equalization, plain.corrections, plain.model.equalized) == (None, (), False)
    assert plain.model == quantize(network, inputs())
    cle = quantize_optimized(network, inputs, optimizations=["cle"])
    assert cle.equalization is not None
    assert cle.model.equalized
    equalized = quantize(equalize(network).network, inputs())
    assert cle.model.activations == equalized.activations
    assert cle.model.parameters == equalized.parameters
    both = quantize_optimized(network, inputs, optimizations=["cle", "bc"])
    assert [correction.layer for correction in both.corrections] == ["a", "b"]
    assert both.model.parameters["a.b"] != cle.model.parameters["a.b"]


def test_what_ways_to_quantise_have_in_common_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Made().conv("a", 8, kernel=3).conv("b", 4).network()
    ways: list[tuple[QuantizationOptions, tuple[Optimization, ...]]] = [
        (QuantizationOptions(), ()),
        (QuantizationOptions(axis_weights=True, activation_bits=16), ()),
        (QuantizationOptions(enhanced="both"), ()),
        (QuantizationOptions(), ("cle",)),
        (QuantizationOptions(bias_bits=32), ("cle", "bc")),
    ]
    alone = [quantize_optimized(network, inputs, *way).model for way in ways]
    observed: list[Network] = []

    def counted(network: Network, *given: Any, **how: Any) -> Any:
        observed.append(network)
        return observe(network, *given, **how)

    monkeypatch.setattr(quantizer, "observe", counted)
    shared = Calibrated()
    for way, model in zip(ways, alone, strict=True):
        again = quantize_optimized(network, inputs, *way, calibrated=shared).model
        assert (again.activations, again.parameters) == (model.activations, model.parameters)
    assert len(observed) == 3, "plain, with histograms, and equalised"


RANGE = IntegerOverride(8, (Range(-1.0, 1.0),))
ACCUMULATOR = IntegerOverride(32, (Range(-1.0, 1.0),))


@pytest.mark.parametrize(
    ("words", "ignored"),
    [
        ([], set()),
        (["cle"], {"a.y", "a.w", "b.w", "b.b"}),
        (["cle", "bc"], {"a.y", "a.w", "b.w", "b.b", "alone.b"}),
    ],
)
def test_ranges_of_what_is_changed_are_ignored_and_all_others_applied(
    words: list[Optimization], ignored: set[str]
) -> None:
    """The pooling layer ends the chain a, b; alone is outside of any."""
    network = Made().conv("a", 8).conv("b", 4).pool().conv("alone", 4).network()
    overrides = Overrides(
        dict.fromkeys(("in", "a.y", "b.y", "alone.y"), RANGE),
        {
            **dict.fromkeys(("a.w", "b.w", "b.b", "alone.w", "alone.b"), RANGE),
            "a.b": ACCUMULATOR,
        },
    )
    model = quantize_optimized(network, inputs, optimizations=words, overrides=overrides).model
    outcomes = {override.key: override for override in model.overrides}
    assert {key for key, override in outcomes.items() if override.outcome == "ignored"} == ignored
    assert {override.outcome for key, override in outcomes.items() if key not in ignored} == {
        "applied"
    }
    for key in outcomes.keys() - ignored - {"a.b"}:
        encoding = model.encoding(key)
        assert isinstance(encoding, Encoding)
        assert encoding.delta == pytest.approx(2 / 255)
    for key in ignored:
        what = "bias correction changes" if key == "alone.b" else "rescaled"
        assert f"{what} '{key}'" in outcomes[key].reason
        assert model.origins[key] != "override"
    assert "a.b" not in model.parameters, "it stays at the accumulator's scale, corrected or not"


def test_float_layers_stay_float_beside_optimizations() -> None:
    network = Made().conv("a", 8).conv("b", 4).pool().conv("alone", 4).network()
    overrides = Overrides(parameters={"alone.w": FloatOverride(32), "b.w": FloatOverride(16)})
    done = quantize_optimized(network, inputs, optimizations=["cle", "bc"], overrides=overrides)
    assert done.model.floats["alone.w"] == 32
    assert done.model.floats["b.w"] == 16
    assert [correction.layer for correction in done.corrections] == ["a"]


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
