"""Prices add up to what the simulator says where it can say it."""

import pytest
from hypothesis import given

from hexsim.graph.ir import Network
from hexsim.planning.sections import automatic
from hexsim.quantization.model import Model
from hexsim.studies.cuts import Prices
from hexsim.studies.cuts.times import LayerTimes
from tests.deployed import deployed
from tests.small_networks import networks
from tests.thorough import examples


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
