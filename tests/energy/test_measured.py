"""The one published power of a network on a Hexagon lies in the band of the estimate."""

import csv
from pathlib import Path

from hexsim.datasheets import chips, measurements, stacks
from hexsim.dlc.loading import load
from hexsim.energy.account import inference_energy
from hexsim.simulation.simulator import Job, Workload, simulate
from tests.hta.shapes import on_hta

ROWS = Path(measurements.__file__).parent / "energy.csv"


def measured_mj() -> float:
    """Millijoules for one more inference: the difference of the busiest and the calmest row."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        rows = [(float(r["power_mw"]), float(r["inferences_per_s"])) for r in csv.DictReader(file)]
    (most_mw, most), (least_mw, least) = max(rows), min(rows)
    return (most_mw - least_mw) / (most - least)


def test_inception_on_the_tensor_engine_of_sd865() -> None:
    chip, stack = chips.load("sd865"), stacks.load(chips.load("sd865").default_stack)
    job = Job(on_hta(load("inception_v3").network), perf_profile="burst")
    (timing,) = simulate(Workload((job,)), chip, stack).inferences
    energy = inference_energy(timing, chip, stack.profile("burst").dsp_corner)
    assert 15.9 < measured_mj() < 16.1
    assert energy.low < measured_mj() < energy.high
    assert energy.millijoules > measured_mj() / 1.5
