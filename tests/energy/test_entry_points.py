"""The same energy through every entry point: Python, profile, bench, throughput."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hexsim
from hexsim.cli.app import app
from hexsim.runtimes import Runtime

DSP_PARTS = ("vector packets", "scalar packets", "macs", "l2", "leakage", "clock tree")


def _said(*arguments: str) -> None:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("runtime", "parts"),
    [
        (
            "dsp",
            {
                "vector packets",
                "scalar packets",
                "macs",
                "l2",
                "ddr",
                "leakage",
                "clock tree",
                "cpu",
            },
        ),
        ("cpu", {"cpu", "ddr"}),
        ("gpu", {"gpu", "cpu", "ddr"}),
    ],
)
def test_each_runtime_spends_on_the_parts_that_it_uses(runtime: Runtime, parts: set[str]) -> None:
    simulation = hexsim.simulate(hexsim.load("mobilenet_v1"), "sd835", runtime)
    energy = simulation.energy
    assert set(energy.parts) == parts
    assert 0 < energy.low < energy.millijoules < energy.high
    assert [layer.name for layer in energy.layers] == [layer.name for layer in simulation.layers]


def test_all_entry_points_tell_the_same(tmp_path: Path) -> None:
    # A single call in a closed loop: its average power over its time is its energy.
    simulation = hexsim.simulate(
        hexsim.load("mobilenet_v1"), perf_profile="high_performance", chip="sd835"
    )
    mj = simulation.energy.millijoules
    profile, layers, many = (tmp_path / name for name in ("p.json", "p.csv", "t.json"))
    table = tmp_path / "b.csv"
    _said("profile", "mobilenet_v1", "--chip", "sd835", "--perf-profile", "high_performance",
          "--json", str(profile), "--csv", str(layers))  # fmt: skip
    _said("bench", "--model", "mobilenet_v1", "--chip", "sd835", "--runtime", "dsp",
          "--timing-only", "--perf-profile", "high_performance", "--csv", str(table))  # fmt: skip
    _said("throughput", "mobilenet_v1", "--chip", "sd835", "--inferences", "1",
          "--perf-profile", "high_performance", "--json", str(many))  # fmt: skip
    (result,) = json.loads(profile.read_text())["results"]
    assert result["energy"]["mj"] == mj
    assert [result["energy"]["mj_low"], result["energy"]["mj_high"]] == [
        simulation.energy.low,
        simulation.energy.high,
    ]
    by_layer = [layer.millijoules for layer in simulation.energy.layers]
    assert [layer["mj"] for layer in result["layers"]] == by_layer
    rows = list(csv.DictReader(io.StringIO(layers.read_text())))
    assert [float(row["mj"]) for row in rows] == pytest.approx(by_layer)
    (total,) = (row for row in csv.DictReader(io.StringIO(table.read_text()))
                if row["mj"] and not row["row"].startswith("layer"))  # fmt: skip
    assert float(total["mj"]) == pytest.approx(mj, abs=1e-6)
    milliwatts = json.loads(many.read_text())["average_power_mw"]["value"]
    assert milliwatts * simulation.total_us / 1e6 == pytest.approx(mj)


def test_a_saving_profile_spends_less_and_takes_longer() -> None:
    model = hexsim.load("mobilenet_v1")
    fast = hexsim.simulate(model, perf_profile="high_performance", chip="sd835")
    slow = hexsim.simulate(model, perf_profile="power_saver", chip="sd835")
    assert slow.total_us > fast.total_us
    assert slow.energy.parts["vector packets"].value < fast.energy.parts["vector packets"].value
    assert slow.energy.parts["leakage"].value > fast.energy.parts["leakage"].value
