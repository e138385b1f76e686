"""The layers chosen run in integers and no others.

Sensitivity: the layers chosen run in integers and no others, and the culprit comes first.

Equalization is tried where an outlier channel stands in a chain, and it helps.

A remedy applied everywhere is the model that its option makes.
"""

import math
from dataclasses import replace

import pytest

from hexsim.accuracy.agreement import agreement
from hexsim.accuracy.diagnosis import diagnose, suspects
from hexsim.accuracy.experiments import (
    could_equalize,
    equalization_remedy,
    equalized,
    everywhere,
    sensitivity,
    try_remedies,
)
from hexsim.accuracy.layer_errors import PairedRun
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.outputs import OutputJudge, with_chosen
from hexsim.accuracy.validation import validate
from hexsim.graph.ir import Tensor
from hexsim.inputs.seeded import seeded_calibration
from hexsim.layers import Neuron, Pooling, Softmax, Window
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.digits.networks import load, spoilt, widest
from tests.digits.scores import calibration, held_out
from tests.dlc.made import with_weights
from tests.opaque_constants import feeds, opaque_input
from tests.small_networks import Sketch


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


def test_it_is_tried_on_a_spoilt_channel_and_helps() -> None:
    network = load("relu", 0)
    broken = spoilt(network, widest(network))
    model, feeds = quantize(broken, calibration()), held_out()[:8]
    errors = validate(deployed(model), feeds).layers
    judge = OutputJudge(deployed(broken), feeds)
    trials = try_remedies(model, errors, judge)
    (trial,) = (trial for trial in trials if trial.remedies == (equalization_remedy(),))
    assert trial.after_db > trial.before_db + 15
    again = equalized(model, feeds)
    assert trial.after_db == judge.sqnr_db(again, judge.takes)
    assert not could_equalize(again, list(judge.takes), {})


def test_a_network_without_outliers_is_left_alone() -> None:
    model = culprits.quantized("none", 8)
    names = [layer.name for layer in model.network.layers]
    assert not could_equalize(model, names, {})
    assert could_equalize(culprits.quantized("outlier", 8), names, {})
    assert not could_equalize(culprits.quantized("outlier", 8), ["fc"], {})


@pytest.mark.parametrize(
    "options",
    [
        QuantizationOptions(),
        QuantizationOptions(symmetric_weights=True, bias_bits=32),
        QuantizationOptions(axis_weights=True, weight_bits=4),
        QuantizationOptions(activation_bits=16),
        QuantizationOptions(activation_bits=16, weight_bits=16, bias_bits=32),
    ],
)
def test_the_modes_of_the_model_are_kept(options: QuantizationOptions) -> None:
    model = quantize(culprits.network("outlier"), culprits.inputs(), options)
    again = equalized(model, culprits.inputs())
    assert again.parameters.keys() - {"fc.bias"} == model.parameters.keys()
    for name, encoding in model.parameters.items():
        other = again.parameters[name]
        assert (type(other), other.bitwidth) == (type(encoding), encoding.bitwidth)
        if not isinstance(encoding, AxisEncoding):
            assert other.symmetric == encoding.symmetric  # type: ignore[union-attr]
    for name, encoding in model.activations.items():
        assert again.activations[name].bitwidth == encoding.bitwidth
    assert again.equalized
    assert not replace(again, equalized=False).equalized


@pytest.mark.parametrize(("fault", "option"), [("bias", "bias_bits"), ("outlier", "axis_")])
def test_the_remedy_of_the_fault_is_the_best_single_one(fault: str, option: str) -> None:
    model, feeds = culprits.quantized(fault, 8), culprits.inputs()
    errors = validate(deployed(model), feeds).layers
    judge = OutputJudge(deployed(model.network), feeds)
    trials = try_remedies(model, errors, judge)
    best = next(trial for trial in trials if len(trial.remedies) == 1)
    assert option in best.remedies[0]
    assert best.before_db == judge.sqnr_db(model, judge.takes)
    assert best.after_db > best.before_db + 6.0
    if fault == "bias":
        wide = culprits.quantized(fault, 32)
        assert best.after_db == pytest.approx(judge.sqnr_db(wide, judge.takes))
    single = [trial for trial in trials if len(trial.remedies) == 1]
    harmless = {trial.remedies[0] for trial in single if trial.after_db >= trial.before_db}
    harmless -= {equalization_remedy()}
    together = [set(trial.remedies) for trial in trials if len(trial.remedies) > 1]
    assert together == ([harmless] if len(harmless) > 1 else [])
    assert len(single) > len(harmless)
    assert [trial.after_db for trial in trials] == sorted(
        (trial.after_db for trial in trials), reverse=True
    )


def test_everywhere_means_every_layer() -> None:
    model, feeds = culprits.quantized("outlier", 8), culprits.inputs()
    errors = validate(deployed(model), feeds).layers
    (diagnosis,) = diagnose(deployed(model), errors, ["c2"], feeds)
    axis = diagnosis.findings[0].remedy
    changed = everywhere([axis], model, errors)
    assert changed.activations == model.activations
    weights = {name for name in model.parameters if name.endswith(".w")}
    assert weights == {n for n, e in changed.parameters.items() if isinstance(e, AxisEncoding)}
    both = everywhere([axis, "store biases in 32 bits (bias_bits=32)"], model, errors)
    assert set(both.parameters) == weights


def test_a_layer_that_moves_codes_keeps_its_input_s_encoding() -> None:
    network = culprits.network()
    pool = Pooling(
        name="pool",
        inputs=("c3.out",),
        outputs=("pool.out",),
        kind="max",
        window=Window((2, 2), (2, 2), (0, 0, 0, 0)),
    )
    layers = (*network.layers[:-1], pool)
    pooled = Tensor("pool.out", (1, 4, 4, 8))
    network = replace(network, outputs=("pool.out",)).with_layers(layers, [pooled])
    model, feeds = quantize(network, culprits.inputs(12, seed=0)), culprits.inputs(1)
    errors = validate(deployed(model), feeds).layers
    by_tensor = {row.tensor: row for row in errors}
    remedies = [c.remedy for layer in layers for c in suspects(layer, model, by_tensor)]
    changed = everywhere(list(dict.fromkeys(remedies)), model, errors)
    assert changed.activations["c3.out"] != model.activations["c3.out"]
    assert changed.activations["pool.out"] == changed.activations["c3.out"]
