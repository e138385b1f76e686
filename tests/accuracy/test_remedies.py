"""A remedy applied everywhere is the model that its option makes."""

import pytest

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.remedies import everywhere, try_remedies
from hexsim.accuracy.validation import validate
from hexsim.quantization.encodings import AxisEncoding
from tests.accuracy import culprits


@pytest.mark.parametrize(
    ("fault", "bias_bits", "option"), [("bias", 8, "--bias-bitwidth"), ("outlier", 8, "--axis")]
)
def test_the_remedy_of_the_fault_is_tried_and_is_best(
    fault: str, bias_bits: int, option: str
) -> None:
    model, feeds = culprits.quantized(fault, bias_bits), culprits.inputs()
    errors = validate(model, feeds, "dsp", signed_weights=False).layers
    diagnoses = diagnose(model, errors, ["c2", "c1"], feeds, signed_weights=False)
    judge = OutputJudge(model.network, feeds, "dsp", signed_weights=False)
    best, *_ = try_remedies(model, errors, diagnoses, judge)
    assert option in best.remedy
    assert best.before_db == judge.sqnr_db(model, judge.takes)
    assert best.after_db > best.before_db + 6.0
    if fault == "bias":
        wide = culprits.quantized(fault, 32)
        assert best.after_db == pytest.approx(judge.sqnr_db(wide, judge.takes))


def test_everywhere_means_every_layer() -> None:
    model, feeds = culprits.quantized("outlier"), culprits.inputs()
    errors = validate(model, feeds, "dsp", signed_weights=False).layers
    (found,) = diagnose(model, errors, ["c2"], feeds, signed_weights=False)
    changed = everywhere(found.findings[0].cause.remedy, model, errors)
    assert changed.activations == model.activations
    assert set(changed.parameters) == {"c0.w", "c1.w", "c2.w", "c3.w", "fc.w"}
    assert all(isinstance(e, AxisEncoding) for e in changed.parameters.values())


def test_without_findings_nothing_is_tried() -> None:
    model = culprits.quantized()
    judge = OutputJudge(model.network, culprits.inputs(1), "dsp", signed_weights=False)
    assert try_remedies(model, (), (), judge) == ()
