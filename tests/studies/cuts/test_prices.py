"""Prices add up to what the simulator says where it can say it."""

import pytest
from hypothesis import given, settings

from hexsim.graph.ir import Network
from hexsim.planning.partition import partition
from hexsim.planning.plan import make_plan
from hexsim.planning.sections import automatic
from hexsim.platform import Platform
from hexsim.studies.cuts import Prices
from hexsim.studies.cuts.times import LayerTimes
from tests.small_networks import networks

SD855 = Platform.load("sd855")


@settings(max_examples=25, deadline=None)
@given(networks())
def test_without_sections_the_total_is_the_simulated_one(network: Network) -> None:
    plan = make_plan(network, "aip", partition(network, "aip"))
    expected = SD855.simulate(plan).total_us
    prices = Prices(LayerTimes(network, SD855))
    assert prices.total_us(()) == pytest.approx(expected, rel=0.01)


@settings(max_examples=25, deadline=None)
@given(networks())
def test_parts_are_never_negative(network: Network) -> None:
    prices = Prices(LayerTimes(network, SD855))
    for section in automatic(network, SD855.stack.partitioning):
        for price in (prices.subnet("hta", section), prices.subnet("hvx", section)):
            assert min(price.layers_us, price.conversion_us) >= 0
            assert price.us == price.layers_us + price.conversion_us + price.dispatch_us
