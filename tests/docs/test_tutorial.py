"""The tutorial is followed as it stands, and renewed by the words of its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.tutorial import Step, follow, kept, renewed
from tests.recipes.page import assert_prints


@pytest.mark.slow
def test_the_tutorial_is_followed_literally(tmp_path: Path) -> None:
    for step in follow(tmp_path):
        assert_prints(step.expected, step.printed, f"{step.command} (renew: benchmarks.tutorial)")


def test_lines_are_known_again_by_their_words() -> None:
    expected = ["...", "total inference 3.5 4", "----", "...", "conv1 7 us", "..."]
    printed = "a network\n\ntotal inference 3.25 5\n--------\nconv0 1 us\nconv1 8 us\nrest\n"
    step = Step("x", expected, printed)
    assert kept(step) == ["...", "total inference 3.25 5", "--------", "...", "conv1 8 us", "..."]
    assert renewed("```\n" + "\n".join(expected) + "\n```", [step]).count("conv1 8 us") == 1


def test_a_line_that_is_gone_is_reported() -> None:
    with pytest.raises(AssertionError, match="no longer has a line as\nconv2 7 us"):
        kept(Step("x", ["...", "conv2 7 us"], "conv1 8 us\n"))
