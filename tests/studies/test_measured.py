from __future__ import annotations

from dataclasses import replace

import pytest

from hexsim.datasheets import measurements
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.results.benchmark import Inference
from hexsim.studies.benchmark import BenchmarkConditions, run_benchmark
from hexsim.studies.measured import is_outside
from hexsim.studies.uncertainty import Times, Uncertainty

FOUND = Uncertainty(Times(9e3, 8e3), Times(12e3, 11e3), Times(14e3, 13e3), (), ())


@pytest.mark.parametrize(("factor", "outside"), [(0.5, True), (1.0, False), (2.0, True)])
def test_a_measured_time_is_held_against_its_own_figure(factor: float, outside: bool) -> None:
    (row,) = measurements.find("squeezenet1_1", "sd835", "snpe-1.23", "dsp", forward=True)
    assert row.latency_ms == 11
    scaled = Uncertainty(
        *(Times(t.total_us, t.forward_us * factor) for t in (FOUND.low, FOUND.nominal, FOUND.high)),
        (),
        (),
    )
    assert is_outside(row, scaled) is outside
    assert not is_outside(row, replace(scaled, scope="a few draws")), "it speaks of no other"


@pytest.mark.parametrize(("buffer", "shown"), [("tf8", (2.947,)), ("float", ())])
def test_a_time_is_shown_beside_the_buffers_it_was_measured_with(
    buffer: BufferType, shown: tuple[float, ...]
) -> None:
    (case,) = run_benchmark(
        ["mobilenet_v1"],
        Platform.load("sd855", "snpe-1.30"),
        ["dsp"],
        BenchmarkConditions(buffer=buffer, accuracy=False, preparation=Preparation(quantize=True)),
    )
    assert isinstance(case, Inference)
    assert case.measured_ms.total_inference == shown


@pytest.mark.parametrize(
    ("stated", "shown"), [(None, (14.0,)), ("balanced", (14.0,)), ("burst", ())]
)
def test_a_time_is_shown_beside_the_profile_it_was_measured_with(
    stated: str | None, shown: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(replace(row, perf_profile=stated) for row in measurements.rows())
    monkeypatch.setattr(measurements, "rows", lambda: rows)
    (case,) = run_benchmark(
        ["mobilenet_v1"],
        Platform.load("sd835", "snpe-1.23"),
        ["dsp"],
        BenchmarkConditions("balanced", accuracy=False, preparation=Preparation(quantize=True)),
    )
    assert isinstance(case, Inference)
    assert case.measured_ms.forward_propagate == shown


def test_the_resolution_of_a_measurement_is_granted() -> None:
    (row,) = measurements.find("mobilenet_v1", "sd835", "snpe-1.23", "dsp", forward=True)
    assert row.latency_ms == 14
    assert row.resolution_ms == 1
    assert not is_outside(row, FOUND)
