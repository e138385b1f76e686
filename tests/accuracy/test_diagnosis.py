"""A suspect's remedy changes its own encoding and nothing else.

The fault that was built in is the cause that dominates, and its remedy helps as measured.
"""

from dataclasses import replace

import pytest

from hexsim.accuracy.diagnosis import channel_limits, diagnose, suspects
from hexsim.accuracy.validation import validate
from hexsim.deployment import Deployment
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.results.validation import Diagnosis
from tests.accuracy import culprits
from tests.deployed import deployed


def test_a_remedy_keeps_the_bits_and_all_other_encodings() -> None:
    model = culprits.quantized("outlier", 8)
    weight = Encoding.from_range(-1.0, 1.0, bitwidth=4)
    model = replace(model, parameters={**model.parameters, "c2.w": weight})
    layer = next(layer for layer in model.network.layers if layer.name == "c2")
    (axis, bias) = suspects(layer, model, {})
    changed = axis.remedied.parameters
    assert {n for n in model.parameters if changed[n] != model.parameters[n]} == {"c2.w"}
    assert isinstance(changed["c2.w"], AxisEncoding)
    assert changed["c2.w"].bitwidth == 4
    limits = channel_limits(model.network.constants["c2.w"].value())  # type: ignore[arg-type]
    assert [e.max for e in changed["c2.w"].channels] == pytest.approx(list(limits))
    assert set(model.parameters) - set(bias.remedied.parameters) == {"c2.b"}
    assert axis.remedied.activations == bias.remedied.activations == model.activations


@pytest.mark.parametrize("fault", ["clipped", "unused"])
def test_a_range_becomes_the_one_seen(fault: str) -> None:
    model, feeds = culprits.quantized(fault), culprits.inputs()
    errors = validate(deployed(model), feeds).layers
    row = next(row for row in errors if row.tensor == "c2.out")
    layer = next(layer for layer in model.network.layers if layer.name == "c2")
    suspected = suspects(layer, model, {"c2.out": row})
    (cause,) = (cause for cause in suspected if cause.tensor == "c2.out")
    assert cause.remedied.activations["c2.out"] == Encoding.from_range(*row.seen)
    assert cause.remedied.parameters == model.parameters


def test_per_channel_weights_and_wide_biases_leave_no_suspect() -> None:
    model = culprits.quantized("outlier")
    layer = model.network.layers[2]
    (axis,) = suspects(layer, model, {})
    assert suspects(layer, axis.remedied, {}) == ()


def _explained(model: Model) -> Diagnosis:
    feeds = culprits.inputs()
    errors = validate(deployed(model), feeds).layers
    (diagnosis,) = diagnose(deployed(model), errors, [culprits.CULPRIT], feeds)
    assert diagnosis.layer == culprits.CULPRIT
    return diagnosis


@pytest.mark.parametrize(
    ("fault", "bias_bits", "kind", "tensor", "option"),
    [
        ("outlier", 32, "range outlier channel", "c2.w", "axis_weights=True"),
        ("dead", 32, "dead channel", "c2.w", "axis_weights=True"),
        ("bias", 8, "coarse bias", "c2.b", "bias_bits=32"),
        ("clipped", 32, "clipped activation", "c2.out", "(inputs of"),
        ("unused", 32, "unused range", "c2.out", "(enhanced)"),
    ],
)
def test_the_cause_is_named(
    fault: str, bias_bits: int, kind: str, tensor: str, option: str
) -> None:
    diagnosis = _explained(culprits.quantized(fault, bias_bits))
    first = diagnosis.findings[0]
    assert (first.kind, first.tensor) == (kind, tensor)
    assert option in first.remedy
    assert f"'{tensor}'" in first.finding
    assert first.remedied_db > diagnosis.alone_db + 6.0
    if fault in ("outlier", "dead", "bias"):
        assert f"channel {culprits.OUTLIER}" in first.finding


@pytest.mark.parametrize(("fault", "bias_bits"), [("outlier", 32), ("dead", 32), ("bias", 8)])
def test_the_remedy_helps_the_whole_network(fault: str, bias_bits: int) -> None:
    model = culprits.quantized(fault, bias_bits)
    chosen = _explained(model).findings[0].kind
    errors = {row.tensor: row for row in validate(deployed(model), culprits.inputs()).layers}
    layer = next(layer for layer in model.network.layers if layer.name == culprits.CULPRIT)
    (remedied,) = (c.remedied for c in suspects(layer, model, errors) if c.kind == chosen)
    before, after = (
        validate(deployed(m), culprits.inputs()).output_sqnr_db for m in (model, remedied)
    )
    assert after > before + 6.0


def test_the_option_does_what_the_remedy_promises() -> None:
    promised = _explained(culprits.quantized("bias", 8)).findings[0].remedied_db
    assert _explained(culprits.quantized("bias", 32)).alone_db == pytest.approx(promised)


def test_a_sound_layer_has_no_fault() -> None:
    diagnosis = _explained(culprits.quantized())
    kinds = {finding.kind for finding in diagnosis.findings}
    assert kinds <= {"one range for all channels"}
    assert diagnosis.alone_db > 30.0


def test_a_layer_is_tried_on_the_engine_that_runs_it() -> None:
    model, feeds = culprits.quantized(), culprits.inputs(2)
    mixed = deployed(model, "aip", "sd855", sections=[["c1"]])
    errors = validate(mixed, feeds).layers

    def alone(deployment: Deployment) -> list[float]:
        return [
            diagnosis.alone_db for diagnosis in diagnose(deployment, errors, ["c1", "c3"], feeds)
        ]

    unsigned, rescaled = (alone(deployed(model, "aip", chip)) for chip in ("sd835", "sd855"))
    assert unsigned[0] != rescaled[0]
    assert alone(mixed) == [unsigned[0], rescaled[1]]
