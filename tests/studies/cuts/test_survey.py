"""A survey accounts for every layer and explains every cut."""

import pytest
from hypothesis import given

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.layers import LocalResponseNorm, Opaque
from hexsim.planning.sections import automatic
from hexsim.quantization.model import Model
from hexsim.studies.cuts import Prices, Survey, survey
from hexsim.studies.cuts.times import LayerTimes
from tests.small_networks import Sketch, networks
from tests.thorough import examples

SD855 = Platform.load("sd855")


def _prices(network: Network, platform: Platform = SD855) -> Prices:
    return Prices(LayerTimes(Deployment(Model(network), platform, "aip")))


def _automatic(network: Network) -> Survey:
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
