"""Speed and memory of a language model: equal parts, conditions, entry points, and what helps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import hexsim
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.llm.architecture import Architecture, architecture_of, read_architecture
from hexsim.llm.network import Conditions, Widths
from hexsim.results.language_model import Gain, LanguageModel
from hexsim.studies import language_model as study
from hexsim.studies.language_model import (
    accepted_tokens,
    gains,
    part_bytes,
    pass_of,
    speed_of,
    split,
)
from hexsim.texts.figures import figure
from tests.cli.conftest import Done
from tests.cli.conftest import command as command
from tests.cli.conftest import refused as refused
from tests.llm.test_architecture import CONFIGS
from tests.llm.tiny_decoder import CONFIG

_ONE_B = CONFIGS / "llama_v3_2_1b_instruct.json"


@pytest.fixture(scope="module")
def one_b() -> Architecture:
    return read_architecture(_ONE_B)


def test_few_layers_stand_for_all(one_b: Architecture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of five layers takes as long as two and three times the difference to one."""
    short = replace(one_b, layers=5)
    conditions = Conditions(context=256, prompt=64, generate=64, block=64)
    platform = Platform.load("sd8gen4")
    few = speed_of(short, platform, conditions)
    monkeypatch.setattr(study, "_FEW", 5)
    full = speed_of(short, platform, conditions)
    assert few.token.ms == pytest.approx(full.token.ms, rel=1e-6)
    assert few.block.ms == pytest.approx(full.block.ms, rel=1e-6)
    assert few.token.ddr_bytes == full.token.ddr_bytes
    for end in ("mj_low", "mj", "mj_high"):
        energies = [getattr(speed.token.energy, end) for speed in (few, full)]
        assert energies[0] == pytest.approx(energies[1], rel=1e-6)


def test_generating_is_bound_by_bytes(one_b: Architecture) -> None:
    """Weights, head and cache over the bandwidth of DDR are a lower bound, and most of it."""
    speed = speed_of(one_b, Platform.load("sd8gen4"), Conditions())
    weights = (16 * one_b.layer_weights // 2 + one_b.head_weights) * 1.0
    cache = 2 * 16 * 8 * 64 * 4095
    assert speed.token.ddr_bytes == pytest.approx(weights + cache, rel=0.01)
    bound_s = (weights + cache) / (84.8e9 * 0.82)
    assert bound_s < speed.token.ms / 1e3 < 2 * bound_s


def test_the_shares_add_up(one_b: Architecture) -> None:
    speed = speed_of(one_b, Platform.load("sd8gen4"), Conditions())
    for stage in (speed.token, speed.block):
        assert sum(stage.parts_ms.values()) == pytest.approx(stage.ms)
        assert min(stage.parts_ms.values()) > 0
    assert speed.first_token_ms[256] == 2 * speed.block.ms
    assert speed.total_ms == pytest.approx(8 * speed.block.ms + 255 * speed.token.ms)


def test_parts_are_as_few_as_the_limit_allows(one_b: Architecture) -> None:
    """All layers once, in order, the head last; one part less would exceed the limit."""
    limit = 300e6
    parts = split(one_b, Widths(), 4096, limit)
    assert [number for part in parts for number in part.layers] == list(range(16))
    assert [part.head for part in parts] == [*[False] * (len(parts) - 1), True]
    assert max(part_bytes(one_b, part, Widths(), 4096) for part in parts) <= limit
    total = sum(part_bytes(one_b, part, Widths(), 4096) for part in parts)
    assert total == 16 * one_b.layer_weights // 2 + one_b.head_weights + one_b.cache_bytes(4096, 8)
    with pytest.raises(HexsimError, match=r"cannot be split into parts of 0\.1 GB"):
        split(one_b, Widths(), 4096, 100e6)


def test_memory_is_counted_by_hand(one_b: Architecture) -> None:
    memory = speed_of(one_b, Platform.load("sd8gen4"), Conditions()).memory_bytes
    assert memory.weights == 16 * 60_817_408 // 2 + 128_256 * 2048
    assert memory.cache == 2 * 16 * 4096 * 8 * 64
    assert memory.embedding == 128_256 * 2048
    assert memory.peak_without_sharing - memory.peak == memory.weights
    assert memory.activations > 0


@pytest.mark.parametrize("vtcm_mb", [None, 1.0])
def test_every_entry_point_gives_the_same(
    command: Callable[[str], Done], one_b: Architecture, vtcm_mb: float | None
) -> None:
    options = "--context 512 --prompt 200 --generate 100 --block 64"
    options += f" --vtcm {vtcm_mb}" if vtcm_mb else ""
    done = command(f"llm {_ONE_B} --chip sdxelite {options} --json a.json")
    assert done.code == 0
    again = command(f"llm {_ONE_B} --chip sdxelite {options} --json b.json")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert again.out == done.out
    conditions = Conditions(context=512, prompt=200, generate=100, block=64)
    platform = Platform.load("sdxelite")
    speed = speed_of(one_b, platform.with_vtcm(vtcm_mb), conditions)
    assert Path("a.json").read_text() == speed.to_json()
    assert LanguageModel.load("a.json") == speed
    lengths = {"context": 512, "prompt": 200, "generate": 100, "block": 64}
    by_api = hexsim.simulate_llm(_ONE_B, "sdxelite", vtcm_mb=vtcm_mb, **lengths)
    assert by_api == speed
    assert str(by_api) == done.out.rstrip("\n")
    assert f"{figure(speed.tokens_per_second)} tokens/s" in done.out
    assert (" with 1 MB of VTCM" in done.out) == bool(vtcm_mb) == (speed.vtcm_mb == 1.0)
    assert (speed.token.ms == speed_of(one_b, platform, conditions).token.ms) != bool(vtcm_mb)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--weights w3", "unknown width of weights 'w3'"),
        ("--activations 32", "unknown width of activations '32'"),
        ("--block 0", "block, a number of tokens,"),
        ("--block 4097", "a block of 4097 tokens does not fit a context of 4096"),
        ("--prompt 4000", "do not fit a context of 4096"),
        ("--part-gb 0.1", "cannot be split into parts of 0.1 GB"),
        ("--part-gb 5", "the size of a part in GB"),
        ("--chip sd835", "chip sd835 has no htp runtime"),
        ("--vtcm 99", "sd8gen4 has 8 MB in all"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    refused: Callable[[str], str], options: str, words: str
) -> None:
    assert words in refused(f"llm {_ONE_B} {options}")


def test_a_missing_key_is_refused_by_the_command(
    refused: Callable[[str], str], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": 64}')
    assert "key 'num_attention_heads' is missing" in refused("llm config.json")


CONDITIONS = Conditions(Widths(8, "float"), context=256, prompt=100, generate=20, block=64)


@pytest.fixture(scope="module")
def platform() -> Platform:
    return Platform.load("sd8gen4")


@pytest.fixture(scope="module")
def speed(platform: Platform) -> LanguageModel:
    return speed_of(architecture_of(CONFIG, "tiny", "config.json"), platform, CONDITIONS)


@pytest.fixture(scope="module")
def by_change(speed: LanguageModel, platform: Platform) -> dict[str, Gain]:
    return {gain.change: gain for gain in gains(speed, platform, 4)}


def test_each_change_is_the_simulation_of_the_changed_model(
    speed: LanguageModel, platform: Platform, by_change: dict[str, Gain]
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
        assert by_change[name].first_token_ms == other.first_token_ms[100]
        assert by_change[name].peak_bytes == other.memory_bytes.peak
    own, draft = (
        by_change["each network with its own weights"],
        by_change["draft of 4 tokens, 70% right"],
    )
    assert own.peak_bytes == speed.memory_bytes.peak + speed.memory_bytes.weights
    checked = pass_of(speed.architecture, platform, CONDITIONS, 5)
    assert draft.tokens_per_second == pytest.approx(2773.1 / checked.ms)
    assert set(by_change) == {*changed, own.change, draft.change} | {
        "heads of keys and values: 1, not 2"
    }


def test_the_bytes_that_a_change_saves(speed: LanguageModel, by_change: dict[str, Gain]) -> None:
    """160 x 64 weights of the head, in 4 bits less; as much again for the embedding."""
    saved = speed.memory_bytes.peak - by_change["head of 4-bit weights"].peak_bytes
    assert saved == 2 * 160 * 64 // 2
    saved = speed.memory_bytes.peak - by_change["8-bit cache"].peak_bytes
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
