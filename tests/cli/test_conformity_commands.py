"""Every model of ONNX's tests is answered or refused by every command; none ends otherwise."""

from __future__ import annotations

import re

import pytest

from benchmarks.conformity import PAGE, Case, cases
from benchmarks.conformity_commands import COMMANDS, ends, run

SAMPLED = 60
"""Models of the quick run, each with one of the commands in turn."""
SHARDS = 8
"""Parts of the long run, which take some minutes each."""


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
@pytest.mark.parametrize("shard", range(SHARDS))
def test_none_fails(shard: int) -> None:
    for case in list(cases())[shard::SHARDS]:
        assert not [one for one in ends(case.name, case.model) if one.effect == "failed"], case.name


def test_the_page_tells_of_every_model_and_of_no_failure() -> None:
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \| 0 \|$", PAGE.read_text("utf-8"), re.M)
    told = {name: int(answered) + int(refused) for name, answered, refused in rows}
    assert told.keys() >= COMMANDS.keys(), "python -m benchmarks.conformity_commands --write"
    assert len({told[name] for name in COMMANDS}) == 1, "every command has seen every model"
