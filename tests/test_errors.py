"""Sentences stay readable whatever the names in them are."""

import math
from typing import Any

import numpy as np
import pytest

from hexsim.errors import HexsimError, require_number, unknown


def test_only_words_that_were_made_long_are_shortened() -> None:
    sentence = f"layer '{'y' * 5000}' reads '/a/{'path' * 50}', which nobody writes"
    expected = f"layer '{'y' * 200}...' reads '/a/{'path' * 50}', which nobody writes"
    assert str(HexsimError(sentence)) == expected
    assert str(HexsimError("short words stay " * 100)).count("stay") == 100
    assert str(HexsimError(f"no '{'a b' * 500}' here")) == f"no '{('a b' * 67)[:200]}...' here"


@pytest.mark.parametrize("value", [-1, 10.5, math.nan, math.inf, "3", None, True])
def test_a_number_outside_its_bounds_is_named(value: Any) -> None:
    with pytest.raises(HexsimError, match=r"idle is a number from 0 to 10, not "):
        require_number("idle", value, 0, 10)


@pytest.mark.parametrize("value", [0, 10, 2.5, np.float32(1)])
def test_a_number_within_its_bounds_is_taken(value: Any) -> None:
    require_number("idle", value, 0, 10)


def test_a_name_that_is_no_text_is_unknown_too() -> None:
    number: Any = 835
    assert str(unknown("chip", number, ["sd835"])).startswith("unknown chip '835'; ")


def test_letters_in_another_order_are_the_name_that_was_meant() -> None:
    chips = ["sd835", "sd845", "sd855", "sd865"]
    assert str(unknown("chip", "sd385", chips)).endswith("; did you mean sd835?")


def test_names_with_the_same_number_come_first() -> None:
    chips = ["sd690", "sd660", "sd855", "qcs605", "sd765"]
    sentence = str(unknown("chip", "sd605", chips))
    assert sentence.startswith("unknown chip 'sd605'; did you mean qcs605 or ")
    single = str(unknown("layer", "conv7", ["conv1", "conv2"]))
    assert single.endswith("did you mean conv2 or conv1?"), "one digit counts no more than a letter"
