"""Several instances at once: what follows from arithmetic, what must add up, and who limits."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import background
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.planning.plan import Plan
from hexsim.reports.throughput import throughput_facts, throughput_text
from hexsim.runtimes import Runtime
from hexsim.studies.throughput import Caller, CallStatistics, ClosedLoop, Throughput, throughput
from hexsim.timing.results import Result
from tests.hta.shapes import on_hta
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples

SD855 = Platform.load("sd855")


def chain(layers: int = 24) -> Network:
    net = Sketch((1, 28, 28, 32))
    last = "in"
    for _ in range(layers):
        last = net.conv(last, 64, 3)
    return net.network(last)


@cache
def planned(runtime: Runtime = "dsp") -> Plan:
    """The plan of the chain of 24 layers."""
    return plan(chain(), runtime)


def caller(network: Network | None = None, runtime: Runtime = "dsp", **values: Any) -> Caller:
    return Caller(plan(network, runtime) if network else planned(runtime), **values)


def share(result: Throughput, resource: str) -> float:
    return next(use.share for use in result.utilisations if use.resource == resource)


def test_percentiles_are_latencies_that_occurred() -> None:
    pace = CallStatistics((50, 10, 40, 20, 30, 60, 70, 80, 90, 100), 1000)
    percents = (0, 50, 90, 99, 100)
    assert [pace.percentile_ps(percent) for percent in percents] == [10, 50, 90, 100, 100]
    assert pace.per_second == 10 * 1e12 / 1000


def test_one_instance_is_what_it_is_alone() -> None:
    result = throughput(SD855, [caller()], ClosedLoop(inferences=5))
    (instance,) = result.instances
    assert instance.pace == instance.alone == result.total
    assert result.gain == pytest.approx(1)
    fastest, slowest = instance.pace.percentile_ps(0), instance.pace.percentile_ps(100)
    assert slowest == pytest.approx(fastest, rel=1e-3), "but for the first context switches"


def test_two_instances_on_the_dsp_gain_what_the_calls_overlap() -> None:
    """While one graph holds the contexts, the other one's call is under way, and no more."""
    result = throughput(SD855, [caller(chain(20), instances=2)], ClosedLoop(inferences=10))
    alone = result.instances[0].alone
    only = throughput(SD855, [caller(chain(20))], ClosedLoop(inferences=10))
    assert only.limit is None
    assert result.limit is not None
    assert result.limit.resource == "hvx contexts"
    assert 1.1 < result.gain < 1 / share(only, "hvx contexts")
    assert result.gain == pytest.approx(result.total.per_second / alone.per_second)
    assert min(
        instance.pace.percentile_ps(50) for instance in result.instances
    ) > alone.percentile_ps(50)


def test_the_dsp_is_full_with_three_and_a_fourth_only_waits() -> None:
    three, four = (
        throughput(SD855, [caller(instances=count)], ClosedLoop(inferences=5)) for count in (3, 4)
    )
    assert four.total.per_second == pytest.approx(three.total.per_second, rel=0.02)
    median = [result.instances[0].pace.percentile_ps(50) for result in (three, four)]
    assert median[1] / median[0] == pytest.approx(4 / 3, rel=0.05)


def test_dsp_and_cpu_do_not_stand_in_each_others_way() -> None:
    result = throughput(SD855, [caller(), caller(runtime="cpu")], ClosedLoop(duration_ms=50))
    assert 1.8 < result.gain <= 2
    for instance in result.instances:
        assert instance.pace.per_second > 0.85 * instance.alone.per_second


def test_the_tensor_engine_works_on_one_inference_while_hvx_works_on_another() -> None:
    """So two instances gain more than on HVX alone, where the contexts are what they wait for."""
    network = chain(40)
    halves = on_hta(network, range(20, 40))
    assert [subnet.engine for subnet in halves.subnets] == ["hvx", "hta"]
    loop = ClosedLoop(inferences=8)
    cut = throughput(SD855, [Caller(halves, instances=2)], loop)
    whole = throughput(SD855, [caller(network, instances=2)], loop)
    together_ps = sum(_array_beside_hvx_of_the_other(cut.result, job) for job in (0, 1))
    assert together_ps > 0.1 * cut.result.timeline.busy_ps("hta array")
    assert cut.gain > 1.2 * whole.gain


def _array_beside_hvx_of_the_other(result: Result, job: int) -> int:
    """For how long the array works on layers of `job` while the other one holds a context."""
    array = [span for span in result.timeline.spans if span.track == "hta array"]
    context = [span for span in result.timeline.spans if span.track == "hvx context 0"]
    layers = [
        (layer.start_ps, layer.start_ps + layer.duration_ps)
        for inference in result.inferences
        if inference.job == job
        for layer in inference.layers
        if layer.engine == "hta"
    ]
    own = [s for s in array if any(t0 <= s.t0_ps and s.t1_ps <= t1 for t0, t1 in layers)]
    locks = [lock for lock in context if lock.name == f"job {1 - job} q6"]
    return sum(
        max(0, min(mine.t1_ps, lock.t1_ps) - max(mine.t0_ps, lock.t0_ps))
        for mine in own
        for lock in locks
    )


@pytest.mark.parametrize(("runtime", "resource"), [("cpu", "cpu cores"), ("gpu", "gpu")])
def test_an_engine_that_runs_one_network_at_a_time_is_the_limit(
    runtime: Runtime, resource: str
) -> None:
    result = throughput(SD855, [caller(runtime=runtime, instances=3)])
    assert result.limit is not None
    assert result.limit.resource == resource
    assert result.gain < 1.3


@pytest.mark.slow
def test_the_more_urgent_of_three_is_served_in_every_turn() -> None:
    """Two wait whenever the third gives the contexts back, so a hint decides who comes next."""
    equal, urgent, late = (
        throughput(
            SD855,
            [caller(chain(24), priority=mine), caller(chain(24), priority=others, instances=2)],
            ClosedLoop(duration_ms=20),
        ).instances
        for mine, others in (("normal", "normal"), ("high", "low"), ("low", "high"))
    )  # fmt: skip
    medians = [result[0].pace.percentile_ps(50) for result in (urgent, equal)]
    assert medians[0] < 0.75 * medians[1]
    assert late[0].pace.inferences <= 2 < equal[0].pace.inferences
    assert late[0].pace.percentile_ps(100) > 20e9


@pytest.mark.slow
def test_with_two_a_hint_decides_nothing_because_contexts_are_not_taken_away() -> None:
    pair = [
        throughput(
            SD855, [caller(priority=first), caller(priority=two)], ClosedLoop(duration_ms=10)
        )
        for first, two in (("normal", "normal"), ("high", "low"), ("low", "high"))
    ]
    counts = [[instance.pace.inferences for instance in result.instances] for result in pair]
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.slow
@examples(20)
@given(
    networks(),
    st.sampled_from(["sd820", "sd835", "sd855"]),
    st.sampled_from(["dsp", "cpu", "gpu"]),
    st.integers(1, 3),
)
def test_no_resource_is_used_more_than_there_is_and_all_work_is_done(
    network: Network, chip: str, runtime: Runtime, instances: int
) -> None:
    platform = Platform.load(chip)
    beside = chain(6)
    callers = [caller(network, runtime, instances=instances), caller(beside)]
    result = throughput(platform, callers, ClosedLoop(inferences=3))
    assert all(0 < use.share <= 1 + 1e-9 for use in result.utilisations)
    assert [instance.pace.inferences for instance in result.instances] == [3] * (instances + 1)
    assert result.total.inferences == 3 * (instances + 1)
    macs = 3 * (instances * network.total_macs + beside.total_macs)
    assert result.result.counters["macs"] == macs
    assert share(result, "hvx contexts at work") <= share(result, "hvx contexts")
    again = throughput(platform, callers, ClosedLoop(inferences=3))
    assert repr(again) == repr(result)
    assert again.result.timeline == result.result.timeline


def test_a_duration_ends_with_the_calls_that_were_begun() -> None:
    result = throughput(SD855, [caller(instances=2)], ClosedLoop(duration_ms=30))
    assert all(inference.start_ps < 30e9 for inference in result.result.inferences)
    for job in range(2):
        ends = [inference.end_ps for inference in result.result.inferences if inference.job == job]
        assert max(ends) >= 30e9


@pytest.mark.parametrize("instances", [1, 2])
def test_calls_that_repeat_are_not_all_simulated(
    instances: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that follow are those that the simulation has, but for the last, which are alone."""
    callers, loop = [caller(chain(2), instances=instances)], ClosedLoop(duration_ms=120)
    short = throughput(SD855, callers, loop)
    monkeypatch.setattr("hexsim.studies.throughput._WINDOWS", ())
    whole = throughput(SD855, callers, loop)
    assert short.repeats is not None
    assert whole.repeats is None
    assert short.repeats.simulated < short.total.inferences / 2
    assert len(short.result.inferences) < len(whole.result.inferences) / 2
    for instance, other in zip(short.instances, whole.instances, strict=True):
        assert instance.pace.latencies_ps[:-1] == other.pace.latencies_ps[:-1]
    assert short.total.per_second == pytest.approx(whole.total.per_second, rel=2e-3)
    text = throughput_text(short)
    assert text.splitlines()[-1].startswith("Calls repeat every ")
    assert f"so {short.repeats.simulated} of {short.total.inferences} are simulated" in text
    assert "repeat" not in throughput_text(whole)
    document = json.loads(throughput_facts.json(short, SD855))
    assert document["repeats"]["simulated"] == short.repeats.simulated
    assert (
        sum(len(thread["latencies_us"]) for thread in document["threads"]) == short.total.inferences
    )


def test_calls_that_do_not_repeat_are_all_simulated() -> None:
    callers = [caller(chain(2)), caller(chain(3), "gpu")]
    result = throughput(SD855, callers, ClosedLoop(duration_ms=40))
    assert result.repeats is None
    assert len(result.result.inferences) == result.total.inferences


def test_a_duration_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEXSIM_BUDGET", "0.0004")
    with pytest.raises(HexsimError, match=r"the duration of the workload asks for .* kernel calls"):
        throughput(SD855, [caller()], ClosedLoop(duration_ms=1e9))


@pytest.mark.slow
def test_events_grow_linearly_with_inferences_and_instances() -> None:
    def events(inferences: int, instances: int) -> int:
        callers = [caller(chain(3), instances=instances)]
        result = throughput(SD855, callers, ClosedLoop(inferences=inferences))
        return result.result.counters["events"]

    few = events(12, 2)
    assert events(24, 2) / few == pytest.approx(2, rel=0.05)
    assert events(12, 4) / few == pytest.approx(2, rel=0.1)


@pytest.mark.slow
def test_clients_of_the_dsp_take_their_part() -> None:
    camera = (background.load("camera"),)
    alone, beside = (
        throughput(SD855, [caller(instances=2)], ClosedLoop(20, background=loads))
        for loads in ((), camera)
    )
    assert beside.total.per_second < alone.total.per_second


@pytest.mark.parametrize(
    ("callers", "loop", "says"),
    [
        ([], ClosedLoop(), "instances: none"),
        ([caller(instances=0)], ClosedLoop(), "at least 1"),
        (
            [caller(instances=9), caller(instances=8)],
            ClosedLoop(),
            "instances: 9, 8; .* may have 16",
        ),
        ([caller()], ClosedLoop(inferences=0), "0 inferences"),
        ([caller()], ClosedLoop(inferences=10**8), "the workload asks for .*kernel calls"),
        ([caller()], ClosedLoop(duration_ms=-1), "a duration of -1 ms"),
        ([caller()], ClosedLoop(duration_ms=math.inf), "a duration of inf ms"),
        ([caller()], ClosedLoop(duration_ms=math.nan), "a duration of nan ms"),
    ],
)
def test_counts_that_make_no_sense_are_refused(
    callers: list[Caller], loop: ClosedLoop, says: str
) -> None:
    with pytest.raises(HexsimError, match=says):
        throughput(SD855, callers, loop)


@pytest.mark.parametrize("name", [pytest.param("mobilenet_v2", marks=pytest.mark.slow), "alexnet"])
def test_two_instances_of_a_real_network_on_sd855(name: str) -> None:
    two = Caller(deploy(load(name), SD855, "dsp").plan, 2)
    result = throughput(SD855, [two], ClosedLoop(inferences=10))
    assert result.limit is not None
    assert result.limit.resource == "hvx contexts"
    assert 1.05 < result.gain < 1.5
