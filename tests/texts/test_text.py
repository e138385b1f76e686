"""Nothing that a name holds acts on what shows it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.texts.text import visible


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("conv1/weights:0", "conv1/weights:0"),
        ("слой_卷积 é", "слой_卷积 é"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\nb\r\t", r"a\nb\r\t"),
        ("a\u202eb", r"a\u202eb"),
        ("\ud800", r"\ud800"),
        ("", ""),
    ],
)
def test_what_is_not_printed_is_written_out(name: str, shown: str) -> None:
    assert visible(name) == shown


@given(st.text())
def test_what_is_shown_is_printed_and_shown_again_the_same(name: str) -> None:
    shown = visible(name)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert visible(shown) == shown
