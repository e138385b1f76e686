"""Sensitivity: the layers chosen run in integers and no others, and the culprit comes first."""

import math

import pytest

from hexsim.accuracy.agreement import agreement
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.paired_run import PairedRun
from hexsim.accuracy.sensitivity import sensitivity
from hexsim.inputs.seeded import seeded_calibration
from hexsim.layers import Neuron, Softmax
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.dlc.made import with_weights
from tests.small_networks import Sketch


def test_all_layers_in_integers_is_the_network_itself() -> None:
    model, feeds = culprits.quantized(), culprits.inputs()
    ranking = sensitivity(model, OutputJudge(deployed(model.network, "dsp", "sd855"), feeds))
    paired = PairedRun(deployed(model, "dsp", "sd855"))
    runs = [paired.run(feed) for feed in feeds]
    floats, others = ([{"scores": run[side]["scores"]} for run in runs] for side in (0, 1))
    assert ranking.all_db == pytest.approx(agreement(floats, others).sqnr_db, abs=1e-3)
    assert ranking.inputs == len(feeds)
    assert {row.layer for row in ranking.layers} == {"c0", "c1", "c2", "c3", "fc"}
    assert all(math.isfinite(row.only_db) for row in ranking.layers)


def test_each_layer_is_tried_on_its_own_engine() -> None:
    """On the tensor engine as unsigned kernels have it, on HVX with rescaled weights."""
    model, feeds = culprits.quantized(), culprits.inputs(2)

    def only(chip: str, *on_hta: str) -> dict[str, float]:
        judge = OutputJudge(deployed(model, "aip", chip, sections=[on_hta]), feeds)
        return {row.layer: row.only_db for row in sensitivity(model, judge).layers}

    mixed, unsigned, rescaled = only("sd855", "c0", "c1"), only("sd835"), only("sd855")
    for layer, level in mixed.items():
        own, other = (unsigned, rescaled) if layer in ("c0", "c1") else (rescaled, unsigned)
        assert level == own[layer]
        assert (own[layer] != other[layer]) is (layer != "fc"), "its weights are unsigned anywhere"


@pytest.mark.parametrize("fault", ["outlier", "dead"])
def test_the_culprit_is_most_sensitive_and_its_absence_helps_most(fault: str) -> None:
    model = culprits.quantized(fault)
    judge = OutputJudge(deployed(model.network), culprits.inputs())
    ranking = sensitivity(model, judge)
    assert ranking.layers[0].layer == culprits.CULPRIT
    assert max(ranking.layers, key=lambda row: row.others_db).layer == culprits.CULPRIT
    assert ranking.layers[0].others_db > ranking.all_db + 6.0
    assert ranking.layers[1].only_db > ranking.layers[0].only_db + 6.0


def test_layers_that_compute_nothing_in_integers_are_not_ranked() -> None:
    net = Sketch((1, 8, 8, 3))
    last = net.pool(net.conv("in", 8))
    last = net.add(Neuron, last, function="elu")
    last = net.add(Softmax, net.dense(last, 10), axes=(1,))
    network = with_weights(net.network(last))
    feeds = seeded_calibration(network, 2)
    done: list[tuple[int, int]] = []
    ranking = sensitivity(
        quantize(network, feeds),
        OutputJudge(deployed(network), feeds),
        lambda *counts: done.append(counts),
    )
    assert {row.type for row in ranking.layers} == {"convolutional", "fully_connected"}
    assert done == [(1, 2), (2, 2)]
