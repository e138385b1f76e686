"""Every model of ONNX's tests is answered or refused by every command; none ends otherwise."""

from __future__ import annotations

import onnx
import pytest

from benchmarks.conformity import Case, cases
from benchmarks.conformity_commands import COMMANDS, ends, run

SAMPLED = 16
"""Models of the quick run, each with one of the commands in turn."""
SHARDS = 8
"""Parts of the long run, which processes share."""


def _sample() -> list[Case]:
    readable = [case for case in cases(kinds=("node", "simple")) if case.model is not None]
    return readable[:: max(1, len(readable) // SAMPLED)]


@pytest.mark.skipif(
    onnx.__version__.startswith("1.17."), reason="onnx 1.17 keeps its node tests in files"
)
def test_a_sample_is_answered_or_refused() -> None:
    sample, names = _sample(), list(COMMANDS)
    outcomes = [
        end
        for number, case in enumerate(sample)
        for end in ends(case.name, case.model, [names[number % len(names)]])
    ]
    assert not [outcome for outcome in outcomes if outcome.effect == "failed"]
    assert sum(outcome.effect == "answered" for outcome in outcomes) > len(outcomes) / 3


def test_a_failure_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("as if")

    monkeypatch.setattr("hexsim.dlc.loading.load_container", broken)
    effect, said = run("info vgg16")
    assert effect == "failed"
    assert "as if" in said


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_none_fails(shard: int) -> None:
    """Each model with one of the commands in turn; all of them take hours."""
    names = list(COMMANDS)
    for number, case in list(enumerate(cases()))[shard::SHARDS]:
        # Models that follow each other differ little, and a shard has each eighth of them.
        chosen = names[number // SHARDS % len(names)]
        outcomes = ends(case.name, case.model, [chosen])
        assert not [outcome for outcome in outcomes if outcome.effect == "failed"], case.name
