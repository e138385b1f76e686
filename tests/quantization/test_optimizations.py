"""Equalization before quantising, bias correction after it, and words that are refused."""

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.equalization import equalize
from hexsim.quantization.optimizations import Optimization, parse_optimizations, quantize_optimized
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.quantizer import quantize
from tests.quantization.equalization.made import Made, inputs


@pytest.mark.parametrize(
    "words", [["cle", "bc"], ["cle,bc"], ["bc", "cle"], [" bc , cle"], ["cle", "cle,bc"]]
)
def test_words(words: list[str]) -> None:
    assert parse_optimizations(words) == ("cle", "bc")


def test_refused_words() -> None:
    assert parse_optimizations([]) == ()
    with pytest.raises(HexsimError, match=r"unknown optimization 'cel'; did you mean cle\?"):
        parse_optimizations(["cel"])
    with pytest.raises(HexsimError, match=r"never run without .* give optimizations=..cle., .bc.."):
        parse_optimizations(["bc"])


def test_what_runs() -> None:
    network = Made().conv("a", 8, kernel=3).conv("b", 4).network()
    plain = quantize_optimized(network, inputs)
    assert (plain.equalization, plain.corrections, plain.model.equalized) == (None, (), False)
    assert plain.model == quantize(network, inputs())
    cle = quantize_optimized(network, inputs, optimizations=["cle"])
    assert cle.equalization is not None
    assert cle.model.equalized
    equalized = quantize(equalize(network).network, inputs())
    assert cle.model.activations == equalized.activations
    assert cle.model.parameters == equalized.parameters
    both = quantize_optimized(network, inputs, optimizations=["cle", "bc"])
    assert [correction.layer for correction in both.corrections] == ["a", "b"]
    assert both.model.parameters["a.b"] != cle.model.parameters["a.b"]


RANGE = IntegerOverride(8, (Range(-1.0, 1.0),))
ACCUMULATOR = IntegerOverride(32, (Range(-1.0, 1.0),))


@pytest.mark.parametrize(
    ("words", "ignored"),
    [
        ([], set()),
        (["cle"], {"a.y", "a.w", "b.w", "b.b"}),
        (["cle", "bc"], {"a.y", "a.w", "b.w", "b.b", "alone.b"}),
    ],
)
def test_ranges_of_what_is_changed_are_ignored_and_all_others_applied(
    words: list[Optimization], ignored: set[str]
) -> None:
    """The pooling layer ends the chain a, b; alone is outside of any."""
    network = Made().conv("a", 8).conv("b", 4).pool().conv("alone", 4).network()
    overrides = Overrides(
        dict.fromkeys(("in", "a.y", "b.y", "alone.y"), RANGE),
        {
            **dict.fromkeys(("a.w", "b.w", "b.b", "alone.w", "alone.b"), RANGE),
            "a.b": ACCUMULATOR,
        },
    )
    model = quantize_optimized(network, inputs, optimizations=words, overrides=overrides).model
    outcomes = {override.key: override for override in model.overrides}
    assert {key for key, override in outcomes.items() if override.outcome == "ignored"} == ignored
    assert {override.outcome for key, override in outcomes.items() if key not in ignored} == {
        "applied"
    }
    for key in outcomes.keys() - ignored - {"a.b"}:
        encoding = model.encoding(key)
        assert isinstance(encoding, Encoding)
        assert encoding.delta == pytest.approx(2 / 255)
    for key in ignored:
        what = "bias correction changes" if key == "alone.b" else "rescaled"
        assert f"{what} '{key}'" in outcomes[key].reason
        assert model.origins[key] != "override"
    assert "a.b" not in model.parameters, "it stays at the accumulator's scale, corrected or not"


def test_float_layers_stay_float_beside_optimizations() -> None:
    network = Made().conv("a", 8).conv("b", 4).pool().conv("alone", 4).network()
    overrides = Overrides(parameters={"alone.w": FloatOverride(32), "b.w": FloatOverride(16)})
    done = quantize_optimized(network, inputs, optimizations=["cle", "bc"], overrides=overrides)
    assert done.model.floats["alone.w"] == 32
    assert done.model.floats["b.w"] == 16
    assert [correction.layer for correction in done.corrections] == ["a"]
