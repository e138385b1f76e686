"""Agreement counts winners and keeps margins in proportion.

Agreements of several runtimes: equal to those found one by one, and nothing is done twice.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from hexsim.accuracy.agreement import Agreements, agreement
from hexsim.accuracy.scores import class_scores
from hexsim.deployment import Deployment
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from tests.accuracy import culprits
from tests.deployed import deployed


def _run(*scores: float) -> dict[str, np.ndarray]:
    return {"prob": np.array([scores], np.float32)}


def test_one_of_two_winners_survives() -> None:
    float_runs = [_run(0.0, 1.0, 0.0), _run(0.6, 0.4, 0.0)]
    int_runs = [_run(0.0, 0.5, 0.0), _run(0.4, 0.6, 0.0)]
    result = agreement(float_runs, int_runs)
    assert (result.inputs, result.top1_agreement) == (2, 1)
    assert result.top1_margin_ratio == pytest.approx((0.5 - 0.2) / (1.0 + 0.2))
    assert result.sqnr_db == pytest.approx(10 * np.log10(1.52 / (0.25 + 0.08)), rel=1e-4)


def test_identical_runs_agree_fully() -> None:
    runs = [_run(0.2, 0.8)]
    result = agreement(runs, runs)
    assert (result.top1_agreement, result.top1_margin_ratio, result.sqnr_db) == (1, 1.0, None)


Feed = Mapping[str, FloatArray]


def _deployments() -> dict[str, Deployment]:
    model = culprits.quantized()
    floats = Model(model.network)
    return {
        "cpu": deployed(floats, "cpu", "sd835"),
        "gpu": deployed(floats, "gpu", "sd835"),
        "dsp": deployed(model, "dsp", "sd835"),
        "fxp_cpu": deployed(model, "fxp_cpu", "sd835"),
        "signed": deployed(model, "dsp", "sd855"),
    }


class _Runs:
    """Counts inferences of executors and of float engines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plans, self.floats = 0, 0
        run_plan, run_floats = PlanExecutor.run, FloatEngine.run

        def plan(executor: PlanExecutor, feed: Feed) -> dict[str, FloatArray]:
            self.plans += 1
            return run_plan(executor, feed)

        def floats(engine: FloatEngine, feed: Feed) -> dict[str, FloatArray]:
            self.floats += 1
            return run_floats(engine, feed)

        monkeypatch.setattr(PlanExecutor, "run", plan)
        monkeypatch.setattr(FloatEngine, "run", floats)


@pytest.mark.parametrize("kept", [0, 1 << 26], ids=["nothing kept", "kept"])
def test_they_are_those_of_each_runtime_by_itself(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexsim.accuracy.agreement.KEPT", kept)
    feeds = culprits.inputs()
    for name, deployment in _deployments().items():
        shared = Agreements(deployment.network, lambda: feeds)
        shared.of(_deployments()["gpu"])
        network = class_scores(deployment.network)
        engine, executor = FloatEngine(network), deployment.over(network).executor()
        alone = agreement([engine.run(x) for x in feeds], [executor.run(x) for x in feeds])
        assert shared.of(deployment) == alone, name


def test_runtimes_with_equal_arithmetic_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    feeds, deployments = culprits.inputs(), _deployments()
    shared = Agreements(deployments["dsp"].network, lambda: feeds)
    runs = _Runs(monkeypatch)
    assert shared.of(deployments["dsp"]) == shared.of(deployments["fxp_cpu"])
    assert (runs.plans, runs.floats) == (len(feeds), len(feeds))
    shared.of(deployments["signed"])
    assert runs.plans == 2 * len(feeds), "signed weights are rescaled, which is other arithmetic"
    assert runs.floats == len(feeds), "the float outputs are kept"


def test_the_float_network_on_the_cpu_is_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    feeds, cpu = culprits.inputs(), _deployments()["cpu"]
    shared = Agreements(cpu.network, lambda: feeds)
    runs = _Runs(monkeypatch)
    agreed = shared.of(cpu)
    assert (agreed.sqnr_db, agreed.top1_agreement, agreed.inputs) == (None, len(feeds), len(feeds))
    assert (runs.plans, runs.floats) == (0, len(feeds))


def test_memory_does_not_grow_with_the_inputs() -> None:
    size = 1 << 21

    def runs() -> Iterator[dict[str, FloatArray]]:
        for index in range(16):
            yield {"y": np.full(size, index + 1, np.float32)}

    tracemalloc.start()
    try:
        agreed = agreement(runs(), runs())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert agreed.inputs == 16
    assert peak < 4 * size * 16, "all inputs at once, of one side alone, would be more"
