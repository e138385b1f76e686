"""Every engine, bound and part of an energy has a colour of its own."""

from typing import get_args

from hexsim.energy.account import PARTS
from hexsim.reports.colours import BOUNDS, ENERGY, ENGINES, in_turn, tint
from hexsim.runtimes import Engine
from hexsim.timing.results import Bound


def test_colours_are_complete_and_differ() -> None:
    for colours, names in ((ENGINES, get_args(Engine)), (BOUNDS, get_args(Bound)), (ENERGY, PARTS)):
        assert set(colours) == set(names)
        assert len(set(colours.values())) == len(names)


def test_tints_are_mixed_with_white() -> None:
    assert [tint("#804020", share) for share in (0.0, 0.5, 1.0)] == [
        "#ffffff",
        "#c0a090",
        "#804020",
    ]


def test_more_names_than_colours_begin_again() -> None:
    colours = in_turn([str(number) for number in range(13)])
    assert colours["12"] == colours["0"] != colours["1"]
