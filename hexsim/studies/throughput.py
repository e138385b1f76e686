"""Several instances at once: latencies, throughput, utilisation, and the limiting resource.

Every instance is a thread of an application that calls its network again as soon as the last call
has returned (a closed loop, as in snpe-throughput-net-run), a number of times or for a duration.
Calls overlap; the DSP's vector contexts go to one graph at a time, the most urgent first; QuRT
arbitrates the rest. A tensor processor runs one graph at a time, or as many as the platform says.

The limiting resource is the one that is used most, if it is in use for at least nine tenths of
the time; a locked vector context counts as in use. If there is none, the instances wait for their
own calls and more of them would help.

For a duration, calls are simulated until they repeat, and later calls follow from the period.
Utilisation is then measured over the simulated calls.

The gain is the work done per second relative to one instance by itself, summed over the networks:
with equal instances, the throughput over that of one.

Threads in a closed loop settle into a periodic pattern. The simulator is deterministic. So once the
relative state of all threads is the same as one period before, all later calls are known. The state
is observed through the beginnings and ends of calls, to the picosecond. If the last four periods
are equal, all later ones are assumed to be equal.

Left out: threads whose calls never become periodic together, such as those on engines that share
nothing; they are simulated to the end. The last calls of a prolonged pattern run beside other
threads, though these have stopped.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

import numpy as np
from msgspec import structs

from hexsim import budget
from hexsim.datasheets.background import Background
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.findings import findings_of
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, step
from hexsim.planning.plan import Plan
from hexsim.q6_scheduler import URGENCY, PriorityHint
from hexsim.quantization.evidence import Loss
from hexsim.quantization.overrides import OverrideUse
from hexsim.records import dataclass, replace
from hexsim.results.throughput import PERCENTILES, Calls, Repeats, Thread, Throughput
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Job, Workload
from hexsim.studies.inferences import platform_fields, time_errors
from hexsim.timing.picoseconds import PS_PER_MS, PS_PER_SECOND, PS_PER_US
from hexsim.timing.results import InferenceTiming, Result, Timeline

_ALIKE = 4
"""Number of equal periods after which the next ones are assumed to be equal."""


@dataclass(frozen=True)
class Repetition:
    """The last `calls` of `simulated` ones repeat those before them, `period_ps` later."""

    period_ps: int
    calls: int
    simulated: int


def in_order(calls: Sequence[InferenceTiming]) -> list[InferenceTiming]:
    """Return calls in the order of their ends."""
    return sorted(calls, key=lambda call: (call.end_ps, call.job))


def repetition(calls: Sequence[InferenceTiming], jobs: int) -> Repetition | None:
    """Return the shortest period with which calls `in_order` end; None if they do not repeat.

    Each of the `jobs` ends at least one call in it.
    """
    for period in range(jobs, len(calls) // _ALIKE + 1):
        apart = calls[-1].end_ps - calls[-1 - period].end_ps
        last = range(len(calls) - (_ALIKE - 1) * period, len(calls))
        is_again = all(_is_again(calls[at], calls[at - period], apart) for at in last)
        if is_again and len({call.job for call in calls[-period:]}) == jobs:
            return Repetition(apart, period, len(calls))
    return None


def prolonged(
    calls: Sequence[InferenceTiming], repeats: Repetition, until_ps: int
) -> list[InferenceTiming]:
    """Return `calls` and their repetitions that begin before `until_ps`.

    Raises HexsimError if there are more than the budget allows.
    """
    total = repeats.simulated + (until_ps // repeats.period_ps) * repeats.calls
    budget.require(budget.CALLS, total, "the duration of the workload")
    result = list(calls)
    for number in count(1):
        later = number * repeats.period_ps
        more = [
            replace(call, start_ps=call.start_ps + later, end_ps=call.end_ps + later)
            for call in calls[-repeats.calls :]
            if call.start_ps + later < until_ps
        ]
        if not more:
            break
        result += more
    return result


def _is_again(call: InferenceTiming, before: InferenceTiming, apart_ps: int) -> bool:
    starts, ends = call.start_ps - before.start_ps, call.end_ps - before.end_ps
    return call.job == before.job and starts == ends == apart_ps


MOST_INSTANCES = 16
"""Largest number of threads; the time of a simulation grows with them."""

_LIMITING_SHARE = 0.9
_WINDOWS = (12, 48, 192)
"""Numbers of rounds of calls in which a period is searched, one after the other."""

_RESOURCES = {
    r"hardware thread \d+$": "hardware threads",
    r"hvx context \d+$": "hvx contexts",
    r"q6 worker \d+$": "hvx contexts at work",
    r"hta array$": "hta array",
    r"htp( \d+)?$": "htp",
    r"gpu$": "gpu",
}
"""Resources by patterns of their tracks' names."""


@dataclass(frozen=True)
class Caller:
    """A network that `instances` threads call again and again.

    `perf_profile` and `inferences` None mean those of the loop. `precision` says in words what it
    computes in.
    """

    plan: Plan
    instances: int = 1
    priority: PriorityHint = "normal"
    perf_profile: str | None = None
    inferences: int | None = None
    precision: str = ""


@dataclass(frozen=True)
class ClosedLoop:
    """How every instance calls: `inferences` times, or until `duration_ms` if that is given."""

    inferences: int = 20
    duration_ms: float | None = None
    perf_profile: str | None = None
    buffer: BufferType | None = None
    background: tuple[Background, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """A network that threads should call: `source` as the user names it."""

    source: str
    runtime: Runtime
    instances: int = 1
    priority: PriorityHint = "normal"


@dataclass(frozen=True)
class Loaded:
    """A network that is ready to be called, and what a user should know of it.

    `hta_choice` is why the tensor engine got its sections, if they were chosen here.
    """

    name: str
    caller: Caller
    findings: tuple[Loss, ...]
    overrides: OverrideUse | None
    hta_choice: str | None


def loaded(
    wanted: Iterable[Wanted],
    platform: Platform,
    preparation: Preparation,
    perf_profile: str | None = None,
    input_dims: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[Loaded]:
    """Yield each network when it is ready; HexsimError if its runtime does not take it."""
    for each in wanted:
        step(f"loading {each.source}")
        read = load_container(each.source, input_dims=input_dims or {})
        loaded = SourceModel(each.source, read, platform, preparation)
        deployment = loaded.deployment(each.runtime, perf_profile)
        choice = loaded.hta_choice if each.runtime == "aip" else None
        yield Loaded(
            loaded.model.name,
            Caller(
                deployment.plan,
                each.instances,
                each.priority,
                precision=loaded.precision(deployment),
            ),
            findings_of(deployment, perf_profile),
            loaded.use(each.runtime),
            choice.sentence if choice is not None else None,
        )


def throughput(
    platform: Platform, callers: Sequence[Caller], loop: ClosedLoop | None = None
) -> Throughput:
    """Run all instances of all callers at once, and one of each caller by itself.

    Raises HexsimError for impossible counts and for networks that the phone cannot run.
    """
    loop = loop or ClosedLoop()
    _check(callers, loop)
    if platform.graphs > 1 and len({caller.priority for caller in callers}) > 1:
        raise HexsimError("graphs that run at a time have one priority; give one for all networks")
    numbers = [number for number, caller in enumerate(callers) for _ in range(caller.instances)]
    run = _run(platform, [callers[number] for number in numbers], loop)
    by_itself = [run] if len(numbers) == 1 else (_run(platform, [c], loop) for c in callers)
    alone = [_calls(single_run.calls) for single_run in by_itself]
    threads = tuple(
        _thread([call for call in run.calls if call.job == job], callers[number], alone[number])
        for job, number in enumerate(numbers)
    )
    total, utilisation = _calls(run.calls), _utilisation(platform, run.result.timeline)
    busiest = max(utilisation, key=lambda resource: utilisation[resource])
    profiles = [callers[number].perf_profile or loop.perf_profile for number in numbers]
    watts = platform.power(run.result, profiles)
    names = dict.fromkeys(name or platform.stack.default_profile for name in profiles)
    work_s = sum(thread.inferences / thread.alone.inferences_per_second for thread in threads)
    return Throughput(
        **platform_fields(platform),
        perf_profile=", ".join(names),
        expected_errors=time_errors(platform, *(thread.runtime for thread in threads)),
        graphs=platform.graphs,
        total=total,
        gain=work_s * PS_PER_SECOND / _elapsed_ps(run.calls),
        average_power_mw=watts * 1e3,
        utilisation=utilisation,
        limited_by=busiest if utilisation[busiest] >= _LIMITING_SHARE else None,
        repeats=_repeats(run.repeats),
        threads=threads,
        timing=run.result,
    )


def _repeats(period: Repetition | None) -> Repeats | None:
    if period is None:
        return None
    period_us = period.period_ps / PS_PER_US
    return Repeats(period_us=period_us, calls=period.calls, simulated=period.simulated)


def _elapsed_ps(calls: Sequence[InferenceTiming]) -> int:
    return max(call.end_ps for call in calls) - min(call.start_ps for call in calls)


def _calls(calls: Sequence[InferenceTiming]) -> Calls:
    """Return statistics of some calls; percentiles are latencies that occurred (nearest rank)."""
    elapsed_ps = _elapsed_ps(calls)
    latencies_ps = [call.total_ps for call in calls]
    return Calls(
        inferences=len(calls),
        elapsed_us=elapsed_ps / PS_PER_US,
        inferences_per_second=len(calls) * PS_PER_SECOND / elapsed_ps,
        latency_us={
            name: int(np.percentile(latencies_ps, percent, method="inverted_cdf")) / PS_PER_US
            for name, percent in PERCENTILES.items()
        },
    )


def _thread(calls: Sequence[InferenceTiming], caller: Caller, alone: Calls) -> Thread:
    return Thread(
        **structs.asdict(_calls(calls)),
        network=caller.plan.network.name,
        runtime=caller.plan.runtime,
        precision=caller.precision,
        priority=caller.priority,
        latencies_us=tuple(call.total_ps / PS_PER_US for call in calls),
        alone=alone,
    )


@dataclass(frozen=True)
class _ThroughputRun:
    """The simulated result, and all calls, including those that follow from the period."""

    result: Result
    calls: Sequence[InferenceTiming]
    repeats: Repetition | None = None


def _run(platform: Platform, threads: Sequence[Caller], loop: ClosedLoop) -> _ThroughputRun:
    """Run threads; for a duration, until their calls repeat or it is over."""
    if loop.duration_ms is not None and not loop.background:
        until_ps = round(loop.duration_ms * PS_PER_MS)
        once = _simulated(platform, threads, replace(loop, inferences=1, duration_ms=None))
        for calls in _WINDOWS:
            window_ps = calls * once.timeline.end_ps
            if 2 * window_ps > until_ps:
                break
            result = _simulated(platform, threads, replace(loop, duration_ms=window_ps / PS_PER_MS))
            ended = in_order(
                [inference for inference in result.inferences if inference.end_ps <= window_ps]
            )
            if repeats := repetition(ended, len(threads)):
                return _ThroughputRun(result, prolonged(ended, repeats, until_ps), repeats)
    result = _simulated(platform, threads, loop)
    return _ThroughputRun(result, result.inferences)


def _check(callers: Sequence[Caller], loop: ClosedLoop) -> None:
    for caller in callers:
        caller.plan.require_work()
    counts = [caller.instances for caller in callers]
    if not counts or min(counts) < 1 or sum(counts) > MOST_INSTANCES:
        raise HexsimError(
            f"instances: {', '.join(map(str, counts)) or 'none'}; every network needs at least 1, "
            f"and all together may have {MOST_INSTANCES}"
        )
    if loop.inferences < 1:
        raise HexsimError(f"{loop.inferences} inferences give no latency; ask for 1 or more")
    if loop.duration_ms is not None and not 0 < loop.duration_ms < math.inf:
        raise HexsimError(f"a duration of {loop.duration_ms:g} ms; give one above 0 that ends")


def _simulated(platform: Platform, threads: Sequence[Caller], loop: ClosedLoop) -> Result:
    until_ps = None if loop.duration_ms is None else round(loop.duration_ms * PS_PER_MS)
    jobs = tuple(
        Job(
            caller.plan,
            count=caller.inferences or loop.inferences,
            until_ps=until_ps,
            urgency=URGENCY[caller.priority],
            perf_profile=caller.perf_profile or loop.perf_profile,
            buffer=loop.buffer,
        )
        for caller in threads
    )
    return platform.simulate(Workload(jobs, loop.background, recorded=True))


def _utilisation(platform: Platform, timeline: Timeline) -> dict[str, float]:
    """Return the resources with their shares of time in use, over all units of each, 0 .. 1."""
    busy_ps: Counter[str] = Counter()
    for span in timeline.spans:
        busy_ps[span.track] += span.t1_ps - span.t0_ps
    shares = {}
    for pattern, resource in _RESOURCES.items():
        total = sum(busy for track, busy in busy_ps.items() if re.search(pattern, track))
        if total:
            shares[resource] = total / (_units(platform, resource) * timeline.end_ps)
    for level in timeline.levels:
        if level.total:
            available = level.capacity * timeline.end_ps / PS_PER_SECOND
            shares[level.name] = level.total / available
    return shares


def _units(platform: Platform, resource: str) -> int:
    if resource == "hardware threads":
        return platform.chip.dsp.hardware_threads
    if resource == "htp":
        return platform.graphs
    return platform.chip.dsp.hvx.contexts if resource.startswith("hvx") else 1
