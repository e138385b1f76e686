"""Draws by workers are those of one process to the last bit."""

from collections.abc import Iterator

import pytest

from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.simulation.simulator import Workload
from hexsim.studies.draws import drawn, draws
from hexsim.studies.processes import Processes, processes
from hexsim.studies.shared_draws import drawn_by
from tests.deployed import deployed

COUNT = 11
"""So many that parts of two processes are not all of one size."""


@pytest.fixture(scope="module", params=[1, 2])
def pool(request: pytest.FixtureRequest) -> Iterator[Processes]:
    with processes(request.param) as started:
        yield started


def work(runtime: str, chip: str) -> tuple[Platform, Workload]:
    deployment = deployed(load("ds_cnn_s"), runtime, chip)  # type: ignore[arg-type]
    return deployment.platform, deployment.workload()


@pytest.mark.parametrize(("runtime", "chip"), [("dsp", "sd855"), ("htp", "sd8gen3")])
def test_times_are_equal(pool: Processes, runtime: str, chip: str) -> None:
    platform, workload = work(runtime, chip)
    expected = drawn(draws(platform, COUNT), lambda changed: changed.simulate(workload))
    assert drawn_by(pool, platform, COUNT, workload) == expected
    assert len(set(expected.times)) == COUNT


@pytest.mark.slow
def test_a_part_of_the_draws_is_that_part() -> None:
    platform = Platform.load("sd855")
    assert draws(platform, 5, slice(1, 3)) == draws(platform, 5)[1:3]
