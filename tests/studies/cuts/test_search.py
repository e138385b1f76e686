"""Dynamic programming finds what trying every cut finds."""

from itertools import combinations

import pytest

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.layers import Elementwise, LocalResponseNorm, Opaque
from hexsim.planning.sections.single import legal
from hexsim.quantization.model import Model
from hexsim.studies.cuts import Prices, search
from hexsim.studies.cuts.search import candidate
from hexsim.studies.cuts.times import LayerTimes
from tests.small_networks import Sketch
from tests.thorough import paired


def _mixed(opaque: bool) -> Network:
    net = Sketch((1, 28, 28, 3))
    stem = net.conv("in", 32, 3)
    normed = net.add(LocalResponseNorm, stem, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    if opaque:
        normed = net.add(Opaque, normed, op_type="Erf", node=b"", shapes=(net.shape(normed),))
    wide = net.conv(normed, 128, 3)
    both = net.add(Elementwise, net.conv(wide, 128), net.depthwise(wide), kind="sum")
    return net.network(net.dense(net.pool(both, "average", 3, 2), 10))


def _prices(opaque: bool, platform: Platform) -> Prices:
    return Prices(LayerTimes(Deployment(Model(_mixed(opaque)), platform, "aip")))


def _every_cut(prices: Prices) -> list[tuple[range, ...]]:
    """All ways to choose taken layers as sections that do not touch."""
    why = prices.times.refusals
    free = [at for at, refused in enumerate(why) if refused is None]
    cuts = []
    for count in range(len(free) + 1):
        for chosen in combinations(free, count):
            starts = [at for at in chosen if at - 1 not in chosen]
            stops = [at + 1 for at in chosen if at + 1 not in chosen]
            cuts.append(tuple(range(a, b) for a, b in zip(starts, stops, strict=True)))
    return cuts


@pytest.mark.parametrize(("opaque", "chip"), paired([False, True], ["sd855", "sd865"], 1))
def test_the_fastest_of_all_cuts(opaque: bool, chip: str) -> None:
    prices = _prices(opaque, Platform.load(chip))
    fastest = min(prices.total_us(cut) for cut in _every_cut(prices))
    assert prices.total_us(candidate(prices)) == pytest.approx(fastest, rel=2e-3)
    searched = search(prices)
    assert searched.best_us == prices.simulated(searched.best).total_us
    assert searched.best_us <= min(searched.default_us, searched.hvx_us)


def test_hand_overs_that_cost_much_leave_everything_on_hvx() -> None:
    platform = Platform.load("sd855")
    stack = platform.stack.with_value("partitioning.hta_subnet_s", 1.0)
    searched = search(_prices(False, Platform(platform.chip, stack)))
    assert searched.best == ()
    assert searched.best_us == searched.hvx_us
    assert searched.gain > 1


def test_the_old_rules_try_every_legal_section() -> None:
    prices = _prices(False, Platform.load("sd855", "snpe-1.23"))
    times = prices.times
    choices = [(), *((section,) for section in legal(times.network, times.refusals))]
    fastest = min(prices.total_us(choice) for choice in choices)
    assert prices.total_us(candidate(prices)) == fastest


def test_the_interval_holds_the_gain() -> None:
    searched = search(_prices(False, Platform.load("sd855")))
    assert searched.low <= searched.gain <= searched.high
