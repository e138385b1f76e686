"""Each engine's times are those of the simulator that owns it, and prices add up to its totals."""

import pytest
from hypothesis import given

from hexsim.graph.ir import Network
from hexsim.hta.compiler import compile_subnet
from hexsim.layers import LocalResponseNorm
from hexsim.planning.sections import automatic
from hexsim.quantization.model import Model
from hexsim.studies.cuts import LayerTimes, Prices
from tests.deployed import deployed
from tests.small_networks import Sketch, networks
from tests.thorough import examples


def _times() -> LayerTimes:
    net = Sketch((1, 32, 32, 3))
    stem = net.conv("in", 32, 3)
    normed = net.add(LocalResponseNorm, stem, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    network = net.network(net.conv(net.conv(normed, 64), 64, 3))
    return LayerTimes(deployed(network, "aip", "sd855"))


def test_on_hvx_as_simulated_without_sections() -> None:
    times = _times()
    result = deployed(times.model, "aip", "sd855", sections=()).simulate()
    assert times.on_hvx == tuple(layer.us for layer in result.layers)


def test_a_section_takes_at_least_its_clocks() -> None:
    times = _times()
    hta = times.platform.chip.hta
    command_list = compile_subnet(times.subnet(range(2, 4)), "sd855", hta)
    for us, part in zip(times.hta_section(range(2, 4)), command_list.layers, strict=True):
        assert us >= part.clocks / hta.clocks_hz.turbo_l1 * 1e6
    assert times.on_hta[2:] == times.hta_section(range(2, 4))


def test_a_refused_layer_has_a_time_of_its_own() -> None:
    times = _times()
    assert times.refusals[1] is not None
    assert times.on_hta[1] == times.hta_section(range(1, 2))[0] > 0


def test_layout_changes_grow_with_their_tensor() -> None:
    times = _times()
    stem, last = times.network.layers[0].output, times.network.layers[-1].output
    assert times.from_d32(last) > times.from_d32(stem) > 0
    assert times.to_d32(stem) > 0
    assert times.to_d32("in") > 0, "an image of three channels goes pixel by pixel"
    assert times.bytes(stem) == 32 * 32 * 32


def _prices(network: Network) -> Prices:
    return Prices(LayerTimes(deployed(network, "aip", "sd855")))


@examples(25)
@given(networks())
def test_without_sections_the_total_is_the_simulated_one(network: Network) -> None:
    expected = deployed(network, "aip", "sd855", sections=()).simulate().total_us
    assert _prices(network).total_us(()) == pytest.approx(expected, rel=0.01)


@examples(25)
@given(networks())
def test_parts_are_never_negative(network: Network) -> None:
    prices = _prices(network)
    for section in automatic(Model(network), prices.times.platform.stack.partitioning):
        for price in (prices.subnet("hta", section), prices.subnet("hvx", section)):
            assert min(price.layers_us, price.conversion_us) >= 0
            assert price.us == price.layers_us + price.conversion_us + price.dispatch_us
