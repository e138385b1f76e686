"""What timing a network costs, by phase: loading, plan, work items, simulated time, a queue.

The bound is on CPU time after imports; no weight is made. Networks are the five of the sd835
measurements and the two that are deepest or largest.
"""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from hexsim.datasheets import background
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.planning.plan import Plan
from hexsim.quantization.model import Model
from hexsim.simulation.phone import Phone
from hexsim.simulation.simulator import Job, Workload, simulate
from hexsim.simulation.subnet_work import dsp_work

PLATFORM = Platform.load("sd835")
NETWORKS = [
    "alexnet",
    "googlenet",
    "mobilenet_v1",
    "mobilenet_v2",
    "squeezenet1_1",
    "resnet50",
    "inception_v3",
]

pytestmark = pytest.mark.parametrize("name", NETWORKS)


@pytest.fixture
def model(name: str) -> Model:
    return load(name)


@pytest.fixture
def plan(model: Model) -> Plan:
    return planned(model)


def planned(model: Model) -> Plan:
    return deploy(model, PLATFORM, "dsp").plan


def test_load(benchmark: BenchmarkFixture, name: str) -> None:
    assert benchmark(load, name).network.layers


def test_plan(benchmark: BenchmarkFixture, model: Model) -> None:
    assert benchmark(planned, model).subnets


def test_work_items(benchmark: BenchmarkFixture, plan: Plan) -> None:
    dsp = Phone(PLATFORM.chip, PLATFORM.stack, [PLATFORM.stack.profile()]).dsp
    (subnet,) = plan.subnets

    def work_items() -> int:
        works = dsp_work(subnet, dsp.target).calls
        return sum(stage.jobs for work in works for stage in work.stages)

    assert benchmark(work_items) > 0


def test_plan_to_result(benchmark: BenchmarkFixture, plan: Plan) -> None:
    result = benchmark(simulate, Workload.single(plan), PLATFORM.chip, PLATFORM.stack)
    assert result.total_ps > 0


def test_queue_beside_background_clients(benchmark: BenchmarkFixture, plan: Plan) -> None:
    """Ten inferences in a row beside every load that ships; aim: under 1 CPU second."""
    loads = tuple(background.load(name) for name in background.names())
    workload = Workload((Job(plan, count=10),), loads)
    result = benchmark.pedantic(simulate, (workload, PLATFORM.chip, PLATFORM.stack), rounds=3)
    assert len(result.inferences) == 10
