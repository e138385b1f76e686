"""Every model of ONNX's tests is answered or refused by every command; none ends otherwise."""

from __future__ import annotations

import onnx
import onnxruntime
import pytest

from benchmarks.conformity import PAGE, Case, cases
from benchmarks.conformity_commands import COMMANDS, ends, run, table
from benchmarks.pages import with_block

SAMPLED = 60
"""Models of the quick run, each with one of the commands in turn."""


def _sample() -> list[Case]:
    found = [case for case in cases(kinds=("node", "simple")) if case.model is not None]
    return found[:: max(1, len(found) // SAMPLED)]


def test_a_sample_is_answered_or_refused() -> None:
    sample, names = _sample(), list(COMMANDS)
    if not sample:
        pytest.skip("this onnx keeps its node tests in files (1.17 does)")
    found = [
        one
        for number, case in enumerate(sample)
        for one in ends(case.name, case.model, [names[number % len(names)]])
    ]
    assert not [one for one in found if one.effect == "failed"]
    assert sum(one.effect == "answered" for one in found) > len(found) / 3


def test_a_failure_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("as if")

    monkeypatch.setattr("hexsim.container.loading.load_container", broken)
    effect, said = run("info vgg16")
    assert effect == "failed"
    assert "as if" in said


@pytest.mark.slow
def test_none_fails_and_the_page_is_that_of_today() -> None:
    found = [one for case in cases() for one in ends(case.name, case.model)]
    assert not [one for one in found if one.effect == "failed"]
    written = PAGE.read_text(encoding="utf-8")
    versions = f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}"
    if versions not in written:
        pytest.skip(f"the page was not written with {versions}")
    expected = with_block(written, "commands", table(found))
    assert written == expected, "python -m benchmarks.conformity_commands --write"
