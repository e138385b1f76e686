"""What changes of a model gain: against simulations of the changed model, and by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hexsim.deployment.platform import Platform
from hexsim.llm.architecture import architecture_of
from hexsim.llm.gains import Gain, accepted_tokens, gains
from hexsim.llm.network import Widths
from hexsim.llm.study import Conditions, LanguageModelSpeed, pass_of, speed_of
from tests.cli.conftest import Done
from tests.cli.conftest import command as command
from tests.cli.conftest import refused as refused
from tests.llm.tiny_decoder import CONFIG

CONDITIONS = Conditions(Widths(8, "float"), context=256, prompt=100, generate=20, block=64)


@pytest.fixture(scope="module")
def platform() -> Platform:
    return Platform.load("sd8gen4")


@pytest.fixture(scope="module")
def speed(platform: Platform) -> LanguageModelSpeed:
    return speed_of(architecture_of(CONFIG, "tiny", "config.json"), platform, CONDITIONS)


@pytest.fixture(scope="module")
def by_change(speed: LanguageModelSpeed) -> dict[str, Gain]:
    return {gain.change: gain for gain in gains(speed, 4)}


def test_each_change_is_the_simulation_of_the_changed_model(
    speed: LanguageModelSpeed, platform: Platform, by_change: dict[str, Gain]
) -> None:
    wide = CONDITIONS.widths
    changed = {
        "4-bit weights": replace(CONDITIONS, widths=replace(wide, weights=4)),
        "head of 4-bit weights": replace(CONDITIONS, widths=replace(wide, head_bits=4)),
        "8-bit cache": replace(CONDITIONS, widths=replace(wide, cache_bits_stated=8)),
        "blocks of 32 tokens": replace(CONDITIONS, block=32),
        "context of 128 tokens": replace(CONDITIONS, context=128),
    }
    for name, conditions in changed.items():
        other = speed_of(speed.architecture, platform, conditions)
        assert by_change[name].tokens_per_second == other.tokens_per_second
        assert by_change[name].first_token_s == other.first_token_s(100)
        assert by_change[name].peak_bytes == other.memory.peak
    own, draft = (
        by_change["each network with its own weights"],
        by_change["draft of 4 tokens, 70% right"],
    )
    assert own.peak_bytes == speed.memory.peak + speed.memory.weights
    checked = pass_of(speed.architecture, platform, CONDITIONS, 5)
    assert draft.tokens_per_second == pytest.approx(2.7731 / checked.seconds)
    assert set(by_change) == {*changed, own.change, draft.change} | {
        "heads of keys and values: 1, not 2"
    }


def test_the_bytes_that_a_change_saves(
    speed: LanguageModelSpeed, by_change: dict[str, Gain]
) -> None:
    """160 x 64 weights of the head, in 4 bits less; as much again for the embedding."""
    saved = speed.memory.peak - by_change["head of 4-bit weights"].peak_bytes
    assert saved == 2 * 160 * 64 // 2
    saved = speed.memory.peak - by_change["8-bit cache"].peak_bytes
    assert saved >= 2 * 2 * 256 * 2 * 16


def test_accepted_tokens_are_the_right_ones_and_one_more() -> None:
    assert accepted_tokens(2) == pytest.approx(1 + 0.7 + 0.49)


@pytest.mark.slow
def test_the_command_asks_for_changes_and_a_timeline(
    command: Callable[[str], Done], refused: Callable[[str], str]
) -> None:
    Path("config.json").write_text(json.dumps(CONFIG))
    options = "--context 256 --prompt 100 --generate 20 --block 64"
    done = command(
        f"llm config.json {options} --what-if --draft 3 --json a.json --trace trace.json "
        "--html a.html"
    )
    assert done.code == 0
    facts = json.loads(Path("a.json").read_text())
    assert "draft of 3 tokens, 70% right" in [row["change"] for row in facts["what_if"]]
    assert "draft of 3 tokens, 70% right" in done.out
    energy = facts["token"]["energy"]
    assert 0 < energy["mj_low"] < energy["mj"] < energy["mj_high"]
    events = json.loads(Path("trace.json").read_text())["traceEvents"]
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["token: 2 layers and the head", "block: 2 layers and the head"]
    assert any(event["name"] == "layer1.softmax" for event in events)
    page = Path("a.html").read_text()
    assert "Timeline of a block: 2 layers and the head" in page
    assert "draft of 3 tokens, 70% right" in page
    assert "draft, a number of tokens," in refused("llm config.json --what-if --draft 65")
