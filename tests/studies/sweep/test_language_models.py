"""Language models in a space: rows equal `hexsim llm`, and what does not fit is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.studies.sweep.points import COUNTERS, Points, row
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space
from hexsim.studies.sweep.table import as_bytes, read, table_of
from tests.llm.tiny_decoder import CONFIG

MODELS = """
language_models = ["config.json"]
chips = ["sd8gen3", "sd8gen4"]
[language_model]
weights = ["w4", "w8"]
contexts = [256, 512]
blocks = [64]
prompt = 100
"""


@pytest.fixture
def config(folder: Path) -> Path:
    """A configuration in the folder in which the test runs."""
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("config")
def test_rows_say_what_llm_says(space: Callable[[str], Space]) -> None:
    models = space(MODELS)
    points = Points(models, settings(models))
    assert len(points) == models.count == 8
    for point in points:
        result = row(point, 10)
        speed = hexsim.simulate_llm(
            "config.json",
            point.setting.platform.chip.name,
            weights=str(result["weights"]),
            context=int(str(result["context"])),
            prompt=100,
            generate=0,
            block=64,
        )
        assert result["refusal"] is None
        assert result["tokens_per_s"] == speed.tokens_per_second
        assert result["first_token_ms"] == speed.first_token_ms[100]
        assert result["peak_memory_bytes"] == speed.memory_bytes.peak
        assert result["energy_high_mj"] == speed.token.energy.mj_high
        assert result["runtime"] == "htp"
        assert {result[name] for name in COUNTERS} == {None}


def test_networks_beside_them_have_empty_columns(
    config: Path, space: Callable[[str], Space]
) -> None:
    mixed = space(f'networks = ["m.dlc"]\nruntimes = ["htp"]\n{MODELS}')
    points = Points(mixed, settings(mixed))
    assert len(points) == mixed.count == 10
    (config / "a.parquet").write_bytes(
        as_bytes([table_of([row(point, 10) for point in points])], mixed, "0")
    )
    swept = read(config / "a.parquet")
    assert swept.table["context"].to_pylist() == [None, None, *(2 * [256, 512]), *(2 * [256, 512])]
    assert swept.table["macs"].null_count == 8
    assert {"weights", "context"} <= {*swept.varied}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('chips = ["sd8gen4"]', "expected networks or language_models"),
        (
            'language_models = ["config.json"]\n[workload]\ninstances = [2]',
            "expected no workload beside language_models",
        ),
        ('language_models = ["config.json"]\nchips = ["sd855"]', "has no htp runtime"),
        ('language_models = ["gone.json"]\nchips = ["sd8gen4"]', "gone.json"),
        (MODELS.replace("w8", "w3"), "unknown width of weights 'w3'"),
        (MODELS.replace("100", "600"), "do not fit a context of 256"),
    ],
)
@pytest.mark.usefixtures("config")
def test_what_cannot_be_swept_is_refused(
    space: Callable[[str], Space], text: str, words: str
) -> None:
    with pytest.raises(HexsimError, match=words):
        settings(space(text))
