"""Where a network with layers of the user's own is cut, what they cost, and what they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.layers import UserDefined
from hexsim.quantization.model import Model
from hexsim.runtimes import RUNTIMES, Runtime
from hexsim.udl import Cost, UserLayer, known, use_layers
from tests.own_layers import FILE, feed, model


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> UserLayer:
    """The first layer of the file, which all are known from."""
    monkeypatch.setattr(known, "_GIVEN", {})
    return use_layers(FILE)[0]


def quantized(*, energy: bool = False) -> Model:
    return hexsim.quantize(hexsim.load(model(energy=energy)), [feed()])


def engines(loaded: Model, runtime: Runtime, chip: str = "sd855") -> list[str]:
    return [subnet.engine for subnet in deploy(loaded, Platform.load(chip), runtime).subnets]


def layer_of(loaded: Model, name: str = "plus") -> UserDefined:
    (user_layer,) = (layer for layer in loaded.network.layers if layer.name == name)
    assert isinstance(user_layer, UserDefined)
    return user_layer


def test_the_dsp_takes_what_has_codes_and_a_cost() -> None:
    assert engines(quantized(), "dsp") == ["hvx"]


def test_the_network_is_cut_around_what_has_not() -> None:
    loaded = quantized(energy=True)
    assert engines(loaded, "dsp") == ["hvx", "cpu"]
    reason = deploy(loaded, Platform.load("sd855"), "dsp").subnets[1].reason
    assert reason == "'own_layers.py' brings it for cpu alone"


@pytest.mark.parametrize(
    ("without", "takers"),
    [
        ({}, {"cpu", "fxp_cpu", "dsp", "aip"}),
        ({"costs": {}}, {"cpu", "fxp_cpu"}),
        ({"codes": None}, {"cpu"}),
        ({"costs": {"gpu": Cost(operations=1)}, "codes": None}, {"cpu", "gpu", "gpu_fp16"}),
    ],
)
def test_what_is_brought_decides_who_takes_it(
    own: UserLayer, without: dict[str, Any], takers: set[str]
) -> None:
    use_layers(replace(own, **without))
    layer = layer_of(hexsim.load(model()))
    assert {runtime for runtime in RUNTIMES if runtime in layer.support.targets} == takers
    assert "hta" not in layer.support.targets


def test_a_layer_of_several_outputs_has_no_codes() -> None:
    layer = layer_of(quantized())
    several = layer.replace(outputs=("s", "t"))
    (rule,) = layer.limits
    network = quantized().network
    assert rule.refuses(several, network)
    assert not rule.refuses(layer, network)


def test_its_floats_are_those_of_the_function_and_halves_on_the_gpu(own: UserLayer) -> None:
    use_layers(replace(own, costs={"gpu": Cost(operations=1)}))
    loaded = hexsim.load(model())
    platform = Platform.load("sd855")
    for runtime, kind in (("cpu", np.float32), ("gpu", np.float16)):
        observed = deploy(loaded, platform, runtime).observing(["c1", "s"])  # type: ignore[arg-type]
        x = loaded.network.tensors["x"].from_source(feed())
        outputs = observed.executor().run({"x": x})
        c1 = outputs["c1"].astype(np.float64)
        expected = ((c1 + np.sqrt(c1 * c1 + 4)) / 2).astype(kind).astype(np.float32)
        np.testing.assert_allclose(
            outputs["s"], expected, rtol=1e-6 if kind is np.float32 else 1e-3
        )
        assert np.array_equal(outputs["s"], outputs["s"].astype(kind))


def test_codes_are_those_of_the_function() -> None:
    loaded = quantized()
    observed = deploy(loaded, Platform.load("sd855"), "dsp").observing(["c1", "s"])
    x = loaded.network.tensors["x"].from_source(feed())
    outputs = observed.executor().run({"x": x})
    real = (outputs["c1"] + np.sqrt(outputs["c1"] ** 2 + 4)) / 2
    expected = loaded.activations["s"]
    np.testing.assert_array_equal(
        outputs["s"], expected.dequantize(expected.quantize(real.astype(np.float64)))
    )


@pytest.mark.parametrize("bits", [8, 16])
def test_sixteen_bits_are_the_functions_own_business(bits: Literal[8, 16]) -> None:
    options = hexsim.QuantizationOptions(activation_bits=bits)
    loaded = hexsim.quantize(hexsim.load(model()), [feed()], options)
    floats = hexsim.simulate(hexsim.load(model()), "sd855", "cpu", feed()).outputs
    codes = hexsim.simulate(loaded, "sd855", "fxp_cpu", feed()).outputs
    assert floats is not None
    assert codes is not None
    span = float(np.ptp(floats["y"]))
    assert np.abs(floats["y"] - codes["y"]).max() < span / (40 if bits == 8 else 100)


def test_constants_come_as_they_are(own: UserLayer) -> None:
    seen: list[Any] = []

    def codes(node: Any, x: Any, none: Any, k: Any) -> Any:
        seen.append((node.input_scales[1:], none, k.dtype, k.tolist()))
        return x

    use_layers(replace(own, floats=lambda node, x, none, k: x * k, codes=codes))
    proto = model()
    proto.graph.node[1].input.extend(["", "k"])
    proto.graph.initializer.add(name="k", data_type=1, dims=[1], float_data=[1.5])
    loaded = hexsim.quantize(hexsim.load(proto), [feed()])
    assert "k" not in loaded.activations
    hexsim.simulate(loaded, "sd855", "dsp", feed())
    assert seen[-1] == ((None, None), None, np.float32, [[[[1.5]]]])


def test_the_time_is_what_the_cost_says(own: UserLayer) -> None:
    def cycles(number: float, threads: int | None) -> dict[str, float]:
        cost = Cost(cycles=number, threads=threads)
        use_layers(replace(own, costs={"cpu": cost, "dsp": cost}))
        loaded = quantized()
        by_runtime = {}
        for runtime in ("cpu", "dsp"):
            layers = hexsim.simulate(loaded, "sd855", runtime).layers  # type: ignore[arg-type]
            (row,) = (layer for layer in layers if layer.name == "plus")
            assert row.cost_model == "user"
            by_runtime[runtime] = row.cycles
        return by_runtime

    million, unit = cycles(1e6, 1), cycles(0, 1)
    assert million["cpu"] - unit["cpu"] == pytest.approx(1e6, rel=0.01)
    assert million["dsp"] - unit["dsp"] > 1e6
    spread = cycles(1e6, None)
    assert spread["dsp"] < million["dsp"]
    assert spread["cpu"] < million["cpu"]


def test_without_a_cost_the_cpu_counts_its_elements() -> None:
    layers = hexsim.simulate(quantized(), "sd855", "cpu").layers
    assert {layer.name: layer.cost_model for layer in layers}["plus"] == "generic"


def test_networks_keep_the_layers_they_were_read_with(own: UserLayer) -> None:
    loaded = hexsim.load(model())
    before = hexsim.simulate(loaded, "sd855", "cpu", feed()).outputs
    use_layers(replace(own, floats=lambda node, x: x))
    after = hexsim.simulate(loaded, "sd855", "cpu", feed()).outputs
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(before["y"], after["y"])


def test_what_fails_when_it_runs_is_one_sentence(own: UserLayer) -> None:
    def fails(node: Any, x: Any) -> Any:
        raise ValueError("no such luck")

    use_layers(replace(own, codes=fails))
    loaded = quantized()
    with pytest.raises(HexsimError, match=r"codes of user-defined com\.example.Squareplus raises"):
        hexsim.simulate(loaded, "sd855", "dsp", feed())
    use_layers(replace(own, floats=fails))
    with pytest.raises(HexsimError, match=r"'own_layers.py', line \d+: floats of user-defined"):
        hexsim.quantize(hexsim.load(model()), [feed()])


def test_another_input_shape_asks_the_rule_again() -> None:
    from hexsim.passes.network_inputs import resized

    network = resized(hexsim.load(model()).network, {"x": (1, 3, 8, 8)})
    assert network.tensors["s"].source_shape == (1, 8, 8, 8)
