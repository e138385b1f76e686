"""Differences as tables; sections without lines are left out."""

from hexsim.quantization.encodings import Encoding
from hexsim.reports.differences import diff_table
from hexsim.results.difference import Difference, PropertyChange, WeightChange


def test_no_difference_is_a_sentence() -> None:
    assert diff_table(Difference(first="a", second="b")) == "a and b do not differ"


def test_sections() -> None:
    coded = str(Encoding.from_range(-5.1, 5.1))
    answer = Difference(
        first="a.dlc",
        second="b.dlc",
        only_first=("only_a",),
        only_second=("only_b",),
        parameters=(PropertyChange(layer="conv", what="output encoding", second=coded),),
        dims=(PropertyChange(layer="conv", what="dims", first="1x2, 3x4", second="1x5"),),
        weights=(WeightChange(layer="conv", what="bias", largest=None, count=3, elements=3),),
    )
    parts = [" ".join(line.split()) for line in diff_table(answer).splitlines()]
    assert "only_b b.dlc" in parts
    assert any(part.startswith("conv output encoding - min -5.12") for part in parts)
    assert "conv dims 1x2, 3x4 1x5" in parts
    assert "conv bias inf 3 of 3" in parts
    assert "Output names" not in parts
