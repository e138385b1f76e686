"""The same figures of memory through every entry point."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hexsim
from hexsim import dlc
from hexsim.quantization.model import Model
from hexsim.results.costs import Footprint
from hexsim.texts.figures import figure
from tests.dlc.made import small_network

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def memory(tmp_path: Path) -> Footprint:
    """What the API says of a small quantised network, which is in q.dlc."""
    dlc.write(tmp_path / "q.dlc", hexsim.quantize(Model(small_network())))
    return hexsim.simulate(str(tmp_path / "q.dlc"), chip="sd835").memory


def test_profile_bench_and_info_say_what_the_api_says(
    command: Command, tmp_path: Path, memory: Footprint
) -> None:
    for entry in (
        "profile --chip sd835 q.dlc",
        "bench --chip sd835 --model q.dlc --runtime dsp",
        "info q.dlc --chip sd835 --memory dsp",
    ):
        code, out, err = command(f"{entry} --json d.json")
        assert (code, err) == (0, "")
        document = json.loads((tmp_path / "d.json").read_text())
        written = document["memory"] if "memory" in document else document["results"][0]["memory"]
        assert written["peak_bytes"] == memory.peak_bytes
        assert written["largest_layer"] == memory.largest_layer
        assert [layer["live_bytes"] for layer in written["layers"]] == [
            layer.live_bytes for layer in memory.layers
        ]
        mib = memory.peak_bytes / 2**20
        assert f"memory at the peak: {figure(mib)} MiB" in out or f"{figure(mib)}\n" in out


def test_csv_has_it_by_layer(command: Command, tmp_path: Path, memory: Footprint) -> None:
    live = [f"{layer.live_bytes}" for layer in memory.layers]

    def rows(words: str) -> list[dict[str, str]]:
        assert command(f"{words} --csv d.csv")[0] == 0
        with (tmp_path / "d.csv").open() as file:
            return list(csv.DictReader(file))

    assert [row["live_bytes"] for row in rows("profile --chip sd835 q.dlc")] == live
    listed = rows("info q.dlc --chip sd835 --memory dsp")
    assert [row["Live Bytes"] for row in listed if row["Type"] != "data"] == live
    of_bench = rows("bench --chip sd835 --model q.dlc --runtime dsp")
    assert [row["bytes"] for row in of_bench if row["engine"]] == live
    (peak,) = (row["bytes"] for row in of_bench if row["row"] == "Total Inference Time")
    assert peak == f"{memory.peak_bytes}"


def test_decide_has_it_for_every_choice(
    command: Command, tmp_path: Path, memory: Footprint
) -> None:
    assert command("decide q.dlc --files --chips sd835 --json d.json")[0] == 0
    choices = json.loads((tmp_path / "d.json").read_text())["files"]
    peaks = {choice["runtime"]: choice["peak_memory_bytes"] for choice in choices}
    assert peaks["dsp"] == memory.peak_bytes
    assert all(peaks[choice["runtime"]] for choice in choices if choice["refusal"] is None)


def test_a_trace_counts_what_is_live(command: Command, tmp_path: Path, memory: Footprint) -> None:
    assert command("profile --chip sd835 q.dlc --trace d.json")[0] == 0
    events = json.loads((tmp_path / "d.json").read_text())["traceEvents"]
    counted = [e["args"]["MiB"] for e in events if e["name"] == "live activations"]
    assert counted == [layer.live_bytes / 2**20 for layer in memory.layers] + [0.0]


def test_memory_of_a_float_network_is_reported_without_quantising_it(command: Command) -> None:
    code, out, err = command("info conv1x1_8to4@5x5 --memory cpu --chip sd855")
    assert (code, err) == (0, "")
    assert "On cpu of sd855:" in out
    assert "live: 1.17 KiB" in out  # 25 pixels of 8 and of 4 channels, 4 bytes each


def test_a_runtime_that_the_chip_lacks_is_refused(command: Command) -> None:
    code, _, err = command("info conv1x1_8to4@5x5 --memory aip --chip sd835")
    assert code == 2
    assert "aip" in err
