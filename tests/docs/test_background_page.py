"""docs/concepts/background.md against the reader of background files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import fields

import hexsim
from benchmarks.pages import CONCEPTS, RESULTS
from hexsim.datasheets import background
from hexsim.datasheets.background import Client
from hexsim.reports.inference import background_tables

PAGE = (CONCEPTS / "background.md").read_text(encoding="utf-8")


def test_the_example_is_what_bench_prints() -> None:
    bench = hexsim.benchmark(
        "mobilenet_v2", "sd845", runtime="dsp", timing_only=True, background="camera"
    )
    table = background_tables(list(bench.results))
    assert f"```\n{table}\n```" in PAGE


@pytest.mark.slow
def test_the_results_are_those_of_today() -> None:
    loads = ["camera", "audio", "sensor-hub"]
    bench = hexsim.benchmark("resnet50", "sd835", runtime="dsp", timing_only=True, background=loads)
    table = background_tables(list(bench.results))
    alone, mean, worst = re.findall(r"(?:alone|mean|worst) (\S+ ms)", table)[:3]
    text = " ".join((RESULTS / "background.md").read_text(encoding="utf-8").split())
    assert f"ResNet-50 takes {alone} when it runs alone." in text
    assert f"it takes {mean} on average and at most {worst}." in text


def test_the_file_that_the_page_shows_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "shown.toml").write_text(text)
    (shown,) = background.load(tmp_path / "shown.toml").clients
    shipped = background.load("camera").clients[0]
    assert (shown.packets, shown.priority) == (shipped.packets, shipped.priority)


def test_every_key_of_a_client_is_on_the_page_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\|([^|]*)\|$", PAGE, re.MULTILINE))
    known = {field.name: field for field in fields(Client)}
    assert list(rows) == list(known)
    for name, stated in rows.items():
        if name != "deadline_us":
            shown = "" if known[name].required else f"{known[name].default}"
            assert stated.strip('`" ') == shown.removesuffix(".0"), name
