"""Every model of ONNX's tests is answered or refused by every command; none ends otherwise."""

from __future__ import annotations

import pytest

from benchmarks.conformity import cases
from benchmarks.conformity_commands import COMMANDS, ends, run

SHARDS = 8
"""Parts, which processes share."""


def test_a_failure_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("as if")

    monkeypatch.setattr("hexsim.api.info.info", broken)
    effect, said = run("info vgg16")
    assert effect == "failed"
    assert "as if" in said


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_none_fails(shard: int) -> None:
    """Each model with one of the commands in turn; all of them take hours."""
    names, answered, asked = list(COMMANDS), 0, 0
    for number, case in list(enumerate(cases()))[shard::SHARDS]:
        # Models that follow each other differ little, and a shard has each eighth of them.
        chosen = names[number // SHARDS % len(names)]
        outcomes = list(ends(case.name, case.model, [chosen]))
        assert not [outcome for outcome in outcomes if outcome.effect == "failed"], case.name
        answered += sum(outcome.effect == "answered" for outcome in outcomes)
        asked += len(outcomes)
    assert answered > asked / 3
