"""The published power of a network on a Hexagon lies in the band of the estimates."""

import csv
from pathlib import Path

import pytest

from hexsim.datasheets import chips, measurements, stacks
from hexsim.dlc.loading import load
from hexsim.energy import Energy, inference_energy
from hexsim.planning.plan import Plan
from hexsim.simulation.simulator import Job, Workload, simulate
from tests.hta.shapes import on_hta
from tests.small_networks import plan

ROWS = Path(measurements.__file__).parent / "energy.csv"
TWO, FOUR, WITH_DSP = "2aip in parallel", "4aip in parallel", "4aip and 1dsp in parallel"


def one_more_mj(instances: str, fewer: str) -> float:
    """Millijoules for one more inference: the difference of two rows."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        rows = {row["instances"]: row for row in csv.DictReader(file)}
    many, few = (
        (float(rows[name]["power_mw"]), float(rows[name]["inferences_per_s"]))
        for name in (instances, fewer)
    )
    return (many[0] - few[0]) / (many[1] - few[1])


def simulated(planned: Plan) -> Energy:
    chip, stack = chips.load("sd865"), stacks.load(chips.load("sd865").default_stack)
    (timing,) = simulate(Workload((Job(planned, perf_profile="burst"),)), chip, stack).inferences
    return inference_energy(timing, chip, stack.profile("burst").dsp_corner)


@pytest.mark.parametrize(("instances", "fewer"), [(FOUR, TWO), (WITH_DSP, FOUR)])
def test_inception_on_sd865(instances: str, fewer: str) -> None:
    """The rows of the AIP differ by 16 mJ an inference, and one on the DSP adds 34 mJ."""
    network = load("inception_v3").network
    energy = simulated(plan(network, "dsp") if instances == WITH_DSP else on_hta(network))
    measured = one_more_mj(instances, fewer)
    assert measured == pytest.approx(33.6 if instances == WITH_DSP else 16.0, abs=0.1)
    assert energy.low < measured < energy.high
    assert measured / 1.5 < energy.millijoules < 1.1 * measured
