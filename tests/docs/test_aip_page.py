"""The page on AIP says what the simulator says today."""

import pytest

from benchmarks.aip_tables import PAGE, measured, whole, with_sections
from hexsim.datasheets.measurements import Measurement
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.timing.results import Result


def _run(row: Measurement, idle_ms: float = 0.0) -> Result:
    platform = Platform.load(row.chip, row.stack)
    return whole(load(row.model), platform).simulate(idle_ms=idle_ms, perf_profile=row.perf_profile)


def _line(start: str, after: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8").split(f"<!-- {after}: begin -->")[1]
    return next(line for line in text.splitlines() if line.startswith(start + " ")).split()


@pytest.mark.parametrize("row", measured(), ids=lambda row: row.model)
def test_the_measured_rows(row: Measurement) -> None:
    measured_ms, simulated_ms = map(float, _line(row.model, "rows")[1:3])
    assert measured_ms == pytest.approx(row.latency_ms, abs=0.005)
    assert simulated_ms == pytest.approx(_run(row).total_us / 1e3, abs=0.005)


def test_the_floor_is_what_was_inferred_from_it() -> None:
    floor = measured()[0]
    assert _run(floor).total_us / 1e3 == pytest.approx(floor.latency_ms, abs=floor.resolution_ms)


def test_a_tensor_engine_that_is_off_takes_what_was_measured_of_it() -> None:
    """The floor needed 2.5 ms after 1 ms; DroNet, whose idle times are followed, needed 3 more."""
    floor = measured()[0]
    assert _run(floor, idle_ms=10.0).total_us / 1e3 == pytest.approx(2.5, rel=0.15)


@pytest.mark.parametrize("chip", ["sd855", "sd865"])
def test_aip_beside_the_dsp(chip: str) -> None:
    platform = Platform.load(chip)
    model = load("squeezenet1_1")
    dsp, aip = map(float, _line("squeezenet1_1", chip)[1:3])
    on_dsp = Deployment(model, platform, "dsp").simulate()
    on_aip = with_sections(model, platform).simulate()
    assert (dsp, aip) == pytest.approx((on_dsp.total_us / 1e3, on_aip.total_us / 1e3), abs=0.005)
