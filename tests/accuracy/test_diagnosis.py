"""The fault that was built in is the cause that dominates, and its remedy helps as measured."""

import pytest

from hexsim.accuracy.diagnosis import Diagnosis, diagnose
from hexsim.accuracy.validation import validate
from hexsim.quantization.model import Model
from tests.accuracy import culprits


def _explained(model: Model) -> Diagnosis:
    feeds = culprits.inputs()
    errors = validate(model, feeds, "dsp", signed_weights=False).layers
    (found,) = diagnose(model, errors, [culprits.CULPRIT], feeds, signed_weights=False)
    assert found.layer == culprits.CULPRIT
    return found


@pytest.mark.parametrize(
    ("fault", "bias_bits", "kind", "tensor", "option"),
    [
        ("outlier", 32, "range outlier channel", "c2.w", "--axis-quant"),
        ("dead", 32, "dead channel", "c2.w", "--axis-quant"),
        ("bias", 8, "coarse bias", "c2.b", "--bias-bitwidth 32"),
        ("clipped", 32, "clipped activation", "c2.out", "--input-list"),
        ("unused", 32, "unused range", "c2.out", "--use-enhanced-quantizer"),
    ],
)
def test_the_cause_is_named(
    fault: str, bias_bits: int, kind: str, tensor: str, option: str
) -> None:
    found = _explained(culprits.quantized(fault, bias_bits))
    first = found.findings[0]
    assert (first.cause.kind, first.cause.tensor) == (kind, tensor)
    assert option in first.cause.remedy
    assert f"'{tensor}'" in first.cause.finding
    assert first.remedied_db > found.alone_db + 6.0
    if fault in ("outlier", "dead", "bias"):
        assert f"channel {culprits.OUTLIER}" in first.cause.finding


@pytest.mark.parametrize(("fault", "bias_bits"), [("outlier", 32), ("dead", 32), ("bias", 8)])
def test_the_remedy_helps_the_whole_network(fault: str, bias_bits: int) -> None:
    model = culprits.quantized(fault, bias_bits)
    remedied = _explained(model).findings[0].cause.remedied
    before, after = (
        validate(m, culprits.inputs(), "dsp", signed_weights=False).output_sqnr_db
        for m in (model, remedied)
    )
    assert after > before + 6.0


def test_the_option_does_what_the_remedy_promises() -> None:
    promised = _explained(culprits.quantized("bias", 8)).findings[0].remedied_db
    assert _explained(culprits.quantized("bias", 32)).alone_db == pytest.approx(promised)


def test_a_sound_layer_has_no_fault() -> None:
    found = _explained(culprits.quantized())
    kinds = {finding.cause.kind for finding in found.findings}
    assert kinds <= {"one range for all channels"}
    assert found.alone_db > 30.0


def test_a_layer_is_tried_on_the_engine_that_runs_it() -> None:
    model, feeds = culprits.quantized(), culprits.inputs(2)
    errors = validate(model, feeds, "aip", signed_weights=True, on_hta={"c1"}).layers
    names = ["c1", "c3"]

    def alone(signed: bool, *on_hta: str) -> list[float]:
        found = diagnose(model, errors, names, feeds, signed_weights=signed, on_hta=set(on_hta))
        return [one.alone_db for one in found]

    unsigned, rescaled = alone(False), alone(True)
    assert unsigned[0] != rescaled[0]
    assert alone(True, "c1") == [unsigned[0], rescaled[1]]
