"""Sensitivity: the layers chosen run in integers and no others, and the culprit comes first."""

import math

import pytest

from hexsim.accuracy.agreement import agreement
from hexsim.accuracy.sensitivity import cuts, ranked_layers, sensitivity
from hexsim.accuracy.twin import Twin
from hexsim.layers import Neuron, Softmax
from tests.accuracy import culprits
from tests.small_networks import Sketch


def test_cuts_put_just_the_chosen_layers_on_the_runtime() -> None:
    network = culprits.network()
    subnets = cuts(network, "dsp", {"c1", "c2", "fc"})
    found = [(subnet.runtime, [layer.name for layer in subnet.layers]) for subnet in subnets]
    assert found == [("cpu", ["c0"]), ("dsp", ["c1", "c2"]), ("cpu", ["c3"]), ("dsp", ["fc"])]


def test_all_layers_in_integers_is_the_network_itself() -> None:
    model, feeds = culprits.quantized(), culprits.inputs()
    found = sensitivity(model, feeds, "dsp", signed_weights=True)
    twin = Twin(model, "dsp", signed_weights=True)
    runs = [twin.run(feed) for feed in feeds]
    floats, others = ([{"scores": run[side]["scores"]} for run in runs] for side in (0, 1))
    assert found.all_db == pytest.approx(agreement(floats, others).sqnr_db, abs=1e-3)
    assert found.inputs == len(feeds)
    assert {row.layer for row in found.layers} == {"c0", "c1", "c2", "c3", "fc"}
    assert all(math.isfinite(row.only_db) for row in found.layers)


@pytest.mark.parametrize("fault", ["outlier", "dead"])
def test_the_culprit_is_most_sensitive_and_its_absence_helps_most(fault: str) -> None:
    found = sensitivity(culprits.quantized(fault), culprits.inputs(), "dsp", signed_weights=False)
    assert found.layers[0].layer == culprits.CULPRIT
    assert max(found.layers, key=lambda row: row.others_db).layer == culprits.CULPRIT
    assert found.layers[0].others_db > found.all_db + 6.0
    assert found.layers[1].only_db > found.layers[0].only_db + 6.0


def test_layers_that_compute_nothing_in_integers_are_not_ranked() -> None:
    net = Sketch((1, 8, 8, 3))
    last = net.pool(net.conv("in", 8))
    last = net.add(Neuron, last, function="elu")
    last = net.add(Softmax, net.dense(last, 10), axes=(1,))
    kinds = [name.rstrip("0123456789") for name in ranked_layers(net.network(last), "dsp")]
    assert kinds == ["convolution", "fullyconnected"]
