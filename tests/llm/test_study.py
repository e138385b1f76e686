"""Speed and memory of a model: equal parts, conditions, and the entry points."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import hexsim
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.llm import study
from hexsim.llm.architecture import Architecture, read_architecture
from hexsim.llm.network import Widths
from hexsim.llm.parts import part_bytes, split
from hexsim.llm.study import Conditions, speed_of
from hexsim.reports.llm_table import llm_facts
from hexsim.texts.figures import figure
from tests.cli.conftest import Done
from tests.cli.conftest import command as command
from tests.cli.conftest import refused as refused
from tests.llm.test_architecture import CONFIGS

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
    assert few.token.seconds == pytest.approx(full.token.seconds, rel=1e-6)
    assert few.block.seconds == pytest.approx(full.block.seconds, rel=1e-6)
    assert few.token.ddr_bytes == full.token.ddr_bytes
    for end in ("low", "value", "high"):
        energies = [getattr(speed.token.energy, end) for speed in (few, full)]
        assert energies[0] == pytest.approx(energies[1], rel=1e-6)


def test_generating_is_bound_by_bytes(one_b: Architecture) -> None:
    """Weights, head and cache over the bandwidth of DDR are a lower bound, and most of it."""
    speed = speed_of(one_b, Platform.load("sd8gen4"), Conditions())
    weights = (16 * one_b.layer_weights // 2 + one_b.head_weights) * 1.0
    cache = 2 * 16 * 8 * 64 * 4095
    assert speed.token.ddr_bytes == pytest.approx(weights + cache, rel=0.01)
    bound_s = (weights + cache) / (84.8e9 * 0.82)
    assert bound_s < speed.token.seconds < 2 * bound_s


def test_the_shares_add_up(one_b: Architecture) -> None:
    speed = speed_of(one_b, Platform.load("sd8gen4"), Conditions())
    for stage in (speed.token, speed.block):
        assert sum(stage.parts_s.values()) == pytest.approx(stage.seconds)
        assert min(stage.parts_s.values()) > 0
    assert speed.first_token_s(129) == 2 * speed.block.seconds
    assert speed.total_s == pytest.approx(8 * speed.block.seconds + 255 * speed.token.seconds)


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
    memory = speed_of(one_b, Platform.load("sd8gen4"), Conditions()).memory
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
    assert json.loads(Path("a.json").read_text()) == json.loads(llm_facts.json(speed))
    lengths = {"context": 512, "prompt": 200, "generate": 100, "block": 64}
    by_api = hexsim.simulate_llm(_ONE_B, "sdxelite", vtcm_mb=vtcm_mb, **lengths)
    assert llm_facts(by_api) == llm_facts(speed)
    assert f"{figure(speed.tokens_per_second)} tokens/s" in done.out
    assert (
        (" with 1 MB of VTCM" in done.out) == bool(vtcm_mb) == (llm_facts(speed)["vtcm_mb"] == 1.0)
    )
    assert (speed.token.seconds == speed_of(one_b, platform, conditions).token.seconds) != bool(
        vtcm_mb
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--weights w3", "unknown width of weights 'w3'"),
        ("--activations 32", "unknown width of activations '32'"),
        ("--block 0", "block, a number of tokens,"),
        ("--block 4096", "a block of 4096 tokens does not fit a context of 4096"),
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
