"""The layers chosen run in integers and no others."""

import math

import pytest

from hexsim.accuracy.distance import Distance
from hexsim.accuracy.outputs import OutputJudge, with_chosen
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.opaque_constants import feeds, opaque_input


def test_cuts_put_just_the_chosen_layers_on_the_runtime() -> None:
    model = culprits.quantized()
    subnets = with_chosen(deployed(model), model, {"c1", "c2", "fc"}).subnets
    placed = [(subnet.runtime, [layer.name for layer in subnet.layers]) for subnet in subnets]
    assert placed == [("cpu", ["c0"]), ("dsp", ["c1", "c2"]), ("cpu", ["c3"]), ("dsp", ["fc"])]


def test_without_integers_there_is_no_noise_and_with_more_there_is_more() -> None:
    model = culprits.quantized()
    judge = OutputJudge(deployed(model.network), culprits.inputs())
    assert judge.takes == {"c0", "c1", "c2", "c3", "fc"}
    none, one_layer_db, all_ = (
        judge.sqnr_db(model, chosen) for chosen in (set(), {"c1"}, judge.takes)
    )
    assert none == math.inf
    assert one_layer_db > all_ > 10.0


def test_layers_that_fall_back_have_the_constants_of_the_file() -> None:
    network = opaque_input()
    model = quantize(network, feeds(network))
    judge = OutputJudge(deployed(model), feeds(network))
    (first, *others) = network.layers
    assert judge.takes == {layer.name for layer in others}
    held = [model.as_stored.constants[name] for name in first.parameters]
    engines = [
        FloatEngine(variant)
        for variant in (network, network.with_layers(network.layers, constants=held))
    ]
    expected = Distance()
    for feed in feeds(network):
        expected.add(*(engine.run(feed)["y"] for engine in engines))
    assert judge.sqnr_db(model, set()) == pytest.approx(expected.sqnr_db)
    assert 20.0 < expected.sqnr_db < 60.0
