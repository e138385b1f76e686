"""A survey accounts for every layer and explains every cut; the search tries all of them."""

from itertools import combinations

import pytest
from hypothesis import given

import hexsim
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Elementwise, LocalResponseNorm, Opaque
from hexsim.planning.sections import automatic, legal_singles
from hexsim.quantization.model import Model
from hexsim.results.partition import Partition
from hexsim.studies.cuts import LayerTimes, Prices, survey
from hexsim.studies.cuts.survey import candidate, chosen_sections, search
from tests.deployed import deployed
from tests.dlc.made import small_network, with_encodings
from tests.small_networks import Sketch, networks
from tests.thorough import examples, paired

SD855 = Platform.load("sd855")


def _prices(network: Network, platform: Platform = SD855) -> Prices:
    return Prices(LayerTimes(Deployment(Model(network), platform, "aip")))


def _automatic(network: Network) -> Partition:
    sections = automatic(Model(network), SD855.stack.partitioning)
    return survey(_prices(network), sections)


@examples(25)
@given(networks())
def test_pieces_are_the_network_and_cuts_lie_between(network: Network) -> None:
    surveyed = _automatic(network)
    names = [name for piece in surveyed.pieces for name in piece.layers]
    assert names == [layer.name for layer in network.layers]
    assert len(surveyed.cuts) == len(surveyed.pieces) - 1
    for piece, cut in zip(surveyed.pieces, surveyed.cuts, strict=False):
        assert cut.after == piece.layers[-1]
        assert cut.reason
        assert min(cut.conversion_us, cut.dispatch_us) >= 0


def _lrn_between() -> Network:
    """conv, LRN, opaque, conv, LRN, conv."""
    net = Sketch((1, 16, 16, 3))
    lrn = {"size": 5, "alpha": 1e-4, "beta": 0.75, "bias": 1.0}
    first = net.add(LocalResponseNorm, net.conv("in", 8, 3), **lrn)
    erf = net.add(Opaque, first, op_type="Erf", node=b"", shapes=(net.shape(first),))
    second = net.add(LocalResponseNorm, net.conv(erf, 32, 3), **lrn)
    return net.network(net.conv(second, 8))


def test_reasons_bytes_and_shares() -> None:
    network = _lrn_between()
    surveyed = _automatic(network)
    assert [piece.engine for piece in surveyed.pieces] == ["hta", "hvx", "cpu", "hta", "hvx", "hta"]
    small, large = 16 * 16 * 8, 16 * 16 * 32
    assert [cut.bytes for cut in surveyed.cuts] == [small, 4 * small, 4 * small, large, large]
    opaque = "Erf: the operator has no layer type"
    assert [("cmrn" in cut.reason, opaque in cut.reason) for cut in surveyed.cuts] == [
        (True, False), (False, True), (False, True), (True, False), (True, False),
    ]  # fmt: skip
    assert surveyed.layer_share == 0.5
    assert surveyed.mac_share == 1


def test_a_refused_layer_costs_what_taking_it_would_save() -> None:
    network = _lrn_between()
    surveyed = survey(_prices(network), ())
    assert [refusal.layer for refusal in surveyed.refused] == [
        "localresponsenorm4",
        "localresponsenorm1",
    ]
    costs = [refusal.cost_us for refusal in surveyed.refused]
    assert costs == sorted(costs, reverse=True)
    stack = SD855.stack.with_value("partitioning.hta_subnet_s", 1e-3)
    dear = Platform(SD855.chip, stack.with_value("partitioning.hnn_subnet_s", 1e-3))
    worse = survey(_prices(network, dear), ()).refused[0]
    saved = 2e3 - sum(
        getattr(SD855.stack.partitioning, name) * 1e6 for name in ("hta_subnet_s", "hnn_subnet_s")
    )
    assert worse.cost_us == pytest.approx(costs[0] + saved, rel=0.01), "two hand-overs less"


def test_where_sections_come_from() -> None:
    model = hexsim.compile_hta(with_encodings(small_network()), "sd855", "1-2")
    coded = deployed(model, "aip", "sd855")
    assert chosen_sections(coded, None) == ((range(2),), "of the file")
    assert chosen_sections(coded, "sm8150:2-3") == ((range(1, 3),), "as listed")
    floats = deployed(small_network(), "aip", "sd855")
    for deployment, listed in ((coded, "sd855:"), (floats, None)):
        sections, words = chosen_sections(deployment, listed)
        assert sections == (range(4),)
        assert words.startswith("automatic")
    _, words = chosen_sections(deployed(model, "aip", "sd865"), None)
    assert words.startswith("automatic"), "the file has none for this chip"
    with pytest.raises(HexsimError, match="sections for sm8250, and the chip is sd855"):
        chosen_sections(coded, "sm8250:1-2")


def _mixed(opaque: bool) -> Network:
    net = Sketch((1, 28, 28, 3))
    stem = net.conv("in", 32, 3)
    normed = net.add(LocalResponseNorm, stem, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    if opaque:
        normed = net.add(Opaque, normed, op_type="Erf", node=b"", shapes=(net.shape(normed),))
    wide = net.conv(normed, 128, 3)
    both = net.add(Elementwise, net.conv(wide, 128), net.depthwise(wide), kind="sum")
    return net.network(net.dense(net.pool(both, "average", 3, 2), 10))


def _mixed_prices(opaque: bool, platform: Platform) -> Prices:
    return _prices(_mixed(opaque), platform)


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
    prices = _mixed_prices(opaque, Platform.load(chip))
    fastest = min(prices.total_us(cut) for cut in _every_cut(prices))
    assert prices.total_us(candidate(prices)) == pytest.approx(fastest, rel=2e-3)
    searched = search(prices)
    assert searched.best_us == prices.simulated(searched.sections).total_us
    assert searched.best_us <= min(searched.default_us, searched.hvx_us)


def test_hand_overs_that_cost_much_leave_everything_on_hvx() -> None:
    platform = Platform.load("sd855")
    stack = platform.stack.with_value("partitioning.hta_subnet_s", 1.0)
    searched = search(_mixed_prices(False, Platform(platform.chip, stack)))
    assert searched.best == ""
    assert searched.best_us == searched.hvx_us
    assert searched.gain.value > 1


def test_the_old_rules_try_every_legal_section() -> None:
    prices = _mixed_prices(False, Platform.load("sd855", "snpe-1.23"))
    times = prices.times
    choices = [(), *((section,) for section in legal_singles(times.network, times.refusals))]
    fastest = min(prices.total_us(choice) for choice in choices)
    assert prices.total_us(candidate(prices)) == fastest


def test_the_interval_holds_the_gain() -> None:
    searched = search(_mixed_prices(False, Platform.load("sd855")))
    assert searched.gain.low <= searched.gain.value <= searched.gain.high
