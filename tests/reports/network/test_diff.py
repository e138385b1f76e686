"""Differences as tables; sections without lines are left out."""

import math

from hexsim.dlc.difference import Difference, PropertyChange, WeightChange
from hexsim.quantization.encodings import Encoding
from hexsim.reports.network.diff import diff_table


def test_no_difference_is_a_sentence() -> None:
    assert diff_table("a", "b", Difference((), (), (), (), (), ())) == "a and b do not differ"


def test_sections() -> None:
    text = diff_table(
        "a.dlc",
        "b.dlc",
        Difference(
            ("only_a",),
            ("only_b",),
            (PropertyChange("conv", "output encoding", None, Encoding.from_range(-5.1, 5.1)),),
            (PropertyChange("conv", "dims", ((1, 2), (3, 4)), ((1, 5),)),),
            (WeightChange("conv", "bias", math.inf, 3, 3),),
            (),
        ),
    )
    parts = [" ".join(line.split()) for line in text.splitlines()]
    assert "only_b b.dlc" in parts
    assert any(part.startswith("conv output encoding - min -5.12") for part in parts)
    assert "conv dims 1x2, 3x4 1x5" in parts
    assert "conv bias inf 3 of 3" in parts
    assert "Output names" not in parts
