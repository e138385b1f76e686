"""Equalization before quantising, bias correction after it, and words that are refused."""

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.equalization import equalize
from hexsim.quantization.optimizations import parse_optimizations, quantize_optimized
from hexsim.quantization.overrides import IntegerOverride, Overrides, Range
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
    with pytest.raises(HexsimError, match=r"never run without .* give --optimizations cle,bc"):
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
    assert [one.layer for one in both.corrections] == ["a", "b"]
    assert both.model.parameters["a.b"] != cle.model.parameters["a.b"]


def test_overrides_and_equalization_exclude_each_other() -> None:
    network = Made().conv("a", 8).conv("b", 4).network()
    overrides = Overrides(activations={"a.y": IntegerOverride(8, (Range(0.0, 1.0),))})
    with pytest.raises(HexsimError, match="leave out --override-params or --optimizations"):
        quantize_optimized(network, inputs, optimizations=["cle"], overrides=overrides)
    given = quantize_optimized(network, inputs, overrides=overrides).model
    assert given.activations["a.y"].max == pytest.approx(1.0, abs=0.01)
