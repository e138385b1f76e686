"""A remedy applied everywhere is the model that its option makes."""

from dataclasses import replace

import pytest

from hexsim.accuracy import cross_layer
from hexsim.accuracy.causes import suspects
from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.remedies import everywhere, try_remedies
from hexsim.accuracy.validation import validate
from hexsim.graph.ir import Tensor
from hexsim.layers import Pooling, Window
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed


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
    harmless -= {cross_layer.remedy()}
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
    axis = diagnosis.findings[0].cause.remedy
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
