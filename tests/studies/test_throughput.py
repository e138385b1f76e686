"""Several instances at once: what follows from arithmetic, what must add up, and who limits.

Calls that repeat are prolonged as the simulator would go on, and others are not.
"""

from __future__ import annotations

import json
import math
import random
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
from hexsim.reports.studies import throughput_text
from hexsim.results.document import plain
from hexsim.results.throughput import Throughput
from hexsim.runtimes import Runtime
from hexsim.studies.throughput import (
    Caller,
    ClosedLoop,
    Repetition,
    in_order,
    prolonged,
    repetition,
    throughput,
)
from hexsim.timing.results import InferenceTiming, Result
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
    return result.utilisation[resource]


def timing_of(result: Throughput) -> Result:
    assert result.timing is not None
    return result.timing


def test_percentiles_are_latencies_that_occurred() -> None:
    result = throughput(SD855, [caller(instances=3)], ClosedLoop(inferences=7))
    for thread in result.threads:
        assert set(thread.latency_us.values()) <= set(thread.latencies_us)
        ordered = sorted(thread.latencies_us)
        assert [*thread.latency_us.values()] == [ordered[at] for at in (0, 3, 6, 6, 6)]
        assert thread.inferences_per_second == pytest.approx(7e6 / thread.elapsed_us)


def test_one_instance_is_what_it_is_alone() -> None:
    result = throughput(SD855, [caller()], ClosedLoop(inferences=5))
    (instance,) = result.threads
    assert instance.alone == result.total
    assert plain(instance).items() >= plain(result.total).items()
    assert result.gain == pytest.approx(1)
    fastest, slowest = instance.latency_us["min"], instance.latency_us["max"]
    assert slowest == pytest.approx(fastest, rel=1e-3), "but for the first context switches"


def test_two_instances_on_the_dsp_gain_what_the_calls_overlap() -> None:
    """While one graph holds the contexts, the other one's call is under way, and no more."""
    result = throughput(SD855, [caller(chain(20), instances=2)], ClosedLoop(inferences=10))
    alone = result.threads[0].alone
    only = throughput(SD855, [caller(chain(20))], ClosedLoop(inferences=10))
    assert only.limited_by is None
    assert result.limited_by == "hvx contexts"
    assert 1.1 < result.gain < 1 / share(only, "hvx contexts")
    assert result.gain == pytest.approx(
        result.total.inferences_per_second / alone.inferences_per_second
    )
    assert (
        min(instance.latency_us["median"] for instance in result.threads)
        > alone.latency_us["median"]
    )


def test_the_dsp_is_full_with_three_and_a_fourth_only_waits() -> None:
    three, four = (
        throughput(SD855, [caller(instances=count)], ClosedLoop(inferences=5)) for count in (3, 4)
    )
    assert four.total.inferences_per_second == pytest.approx(
        three.total.inferences_per_second, rel=0.02
    )
    median = [result.threads[0].latency_us["median"] for result in (three, four)]
    assert median[1] / median[0] == pytest.approx(4 / 3, rel=0.05)


def test_dsp_and_cpu_do_not_stand_in_each_others_way() -> None:
    result = throughput(SD855, [caller(), caller(runtime="cpu")], ClosedLoop(duration_ms=50))
    assert 1.8 < result.gain <= 2
    for instance in result.threads:
        assert instance.inferences_per_second > 0.85 * instance.alone.inferences_per_second


def test_the_tensor_engine_works_on_one_inference_while_hvx_works_on_another() -> None:
    """So two instances gain more than on HVX alone, where the contexts are what they wait for."""
    network = chain(40)
    halves = on_hta(network, range(20, 40))
    assert [subnet.engine for subnet in halves.subnets] == ["hvx", "hta"]
    loop = ClosedLoop(inferences=8)
    cut = throughput(SD855, [Caller(halves, instances=2)], loop)
    whole = throughput(SD855, [caller(network, instances=2)], loop)
    together_ps = sum(_array_beside_hvx_of_the_other(timing_of(cut), job) for job in (0, 1))
    assert together_ps > 0.1 * timing_of(cut).timeline.busy_ps("hta array")
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
    assert result.limited_by == resource
    assert result.gain < 1.3


@pytest.mark.slow
def test_the_more_urgent_of_three_is_served_in_every_turn() -> None:
    """Two wait whenever the third gives the contexts back, so a hint decides who comes next."""
    equal, urgent, late = (
        throughput(
            SD855,
            [caller(chain(24), priority=mine), caller(chain(24), priority=others, instances=2)],
            ClosedLoop(duration_ms=20),
        ).threads
        for mine, others in (("normal", "normal"), ("high", "low"), ("low", "high"))
    )  # fmt: skip
    medians = [result[0].latency_us["median"] for result in (urgent, equal)]
    assert medians[0] < 0.75 * medians[1]
    assert late[0].inferences <= 2 < equal[0].inferences
    assert late[0].latency_us["max"] > 20e3


@pytest.mark.slow
def test_with_two_a_hint_decides_nothing_because_contexts_are_not_taken_away() -> None:
    pair = [
        throughput(
            SD855, [caller(priority=first), caller(priority=two)], ClosedLoop(duration_ms=10)
        )
        for first, two in (("normal", "normal"), ("high", "low"), ("low", "high"))
    ]
    counts = [[instance.inferences for instance in result.threads] for result in pair]
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
    assert all(0 < used <= 1 + 1e-9 for used in result.utilisation.values())
    assert [instance.inferences for instance in result.threads] == [3] * (instances + 1)
    assert result.total.inferences == 3 * (instances + 1)
    macs = 3 * (instances * network.total_macs + beside.total_macs)
    assert timing_of(result).counters["macs"] == macs
    assert share(result, "hvx contexts at work") <= share(result, "hvx contexts")
    again = throughput(platform, callers, ClosedLoop(inferences=3))
    assert again.to_json() == result.to_json()
    assert timing_of(again).timeline == timing_of(result).timeline


def test_a_duration_ends_with_the_calls_that_were_begun() -> None:
    result = throughput(SD855, [caller(instances=2)], ClosedLoop(duration_ms=30))
    assert all(inference.start_ps < 30e9 for inference in timing_of(result).inferences)
    for job in range(2):
        ends = [
            inference.end_ps for inference in timing_of(result).inferences if inference.job == job
        ]
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
    assert len(timing_of(short).inferences) < len(timing_of(whole).inferences) / 2
    for instance, other in zip(short.threads, whole.threads, strict=True):
        assert instance.latencies_us[:-1] == other.latencies_us[:-1]
    assert short.total.inferences_per_second == pytest.approx(
        whole.total.inferences_per_second, rel=2e-3
    )
    text = throughput_text(short)
    assert text.splitlines()[-1].startswith("Calls repeat every ")
    assert f"so {short.repeats.simulated} of {short.total.inferences} are simulated" in text
    assert "repeat" not in throughput_text(whole)
    document = json.loads(short.to_json())
    assert document["repeats"]["simulated"] == short.repeats.simulated
    assert (
        sum(len(thread["latencies_us"]) for thread in document["threads"]) == short.total.inferences
    )


def test_calls_that_do_not_repeat_are_all_simulated() -> None:
    callers = [caller(chain(2)), caller(chain(3), "gpu")]
    result = throughput(SD855, callers, ClosedLoop(duration_ms=40))
    assert result.repeats is None
    assert len(timing_of(result).inferences) == result.total.inferences


def test_a_duration_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEXSIM_BUDGET", "0.0004")
    with pytest.raises(HexsimError, match=r"the duration of the workload asks for .* kernel calls"):
        throughput(SD855, [caller()], ClosedLoop(duration_ms=1e9))


@pytest.mark.slow
def test_events_grow_linearly_with_inferences_and_instances() -> None:
    def events(inferences: int, instances: int) -> int:
        callers = [caller(chain(3), instances=instances)]
        result = throughput(SD855, callers, ClosedLoop(inferences=inferences))
        return timing_of(result).counters["events"]

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
    assert beside.total.inferences_per_second < alone.total.inferences_per_second


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
    assert result.limited_by == "hvx contexts"
    assert 1.05 < result.gain < 1.5


def call(job: int, start: int, end: int) -> InferenceTiming:
    return InferenceTiming(job, start, end, (), ())


def closed(job: int, latencies: list[int]) -> list[InferenceTiming]:
    """Calls one behind the other."""
    ends = [sum(latencies[: number + 1]) for number in range(len(latencies))]
    return [call(job, e - took, e) for e, took in zip(ends, latencies, strict=True)]


def test_a_period_after_a_beginning_of_its_own() -> None:
    calls = closed(0, [9, 7, 3, 4, 3, 4, 3, 4, 3, 4])
    assert repetition(calls, 1) == Repetition(7, 2, 10)
    assert repetition(calls[:-1], 1) is None, "of two calls, only three and a half periods"
    longer = closed(0, [9, 7, *[3, 4] * 20])
    assert prolonged(calls, Repetition(7, 2, 10), longer[30].start_ps + 1) == longer[:31]


def test_a_period_has_calls_of_every_thread() -> None:
    fast, slow = closed(0, [2] * 40), closed(1, [10] * 8)
    assert repetition(in_order([*fast[:6], *slow]), 2) is None
    together = in_order([*fast, *slow])
    assert repetition(together, 2) == Repetition(10, 6, 48)
    assert repetition(in_order(fast), 2) is None


def test_what_is_out_of_step_does_not_repeat() -> None:
    rng = random.Random(1)
    assert repetition(closed(0, [rng.randrange(5, 9) for _ in range(200)]), 1) is None
    assert repetition(in_order([*closed(0, [100] * 99), *closed(1, [141] * 70)]), 2) is None


def test_a_prolongation_has_a_budget() -> None:
    calls = closed(0, [5] * 8)
    repeated = repetition(calls, 1)
    assert repeated is not None
    with pytest.raises(HexsimError, match=r"the duration of the workload asks for .* calls"):
        prolonged(calls, repeated, 10**8)
