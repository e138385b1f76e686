"""Several instances at once: latencies, throughput, utilisation, and the limiting resource.

Every instance is a thread of an application that calls its network again as soon as the last call
has returned (a closed loop, as in snpe-throughput-net-run), a number of times or for a duration.
Calls overlap; the DSP's vector contexts go to one graph at a time, the most urgent first; QuRT
arbitrates the rest. A tensor processor runs one graph at a time, or as many as the platform says.

The limiting resource is the one that is used most, if it is in use for at least nine tenths of
the time; a locked vector context counts as in use. If there is none, the instances wait for their
own calls and more of them would help.

For a duration, calls are simulated until they repeat (`hexsim.studies.repetition`), and later calls
follow from the period. Utilisation is then measured over the simulated calls.

The gain is the work done per second relative to one instance by itself, summed over the networks:
with equal instances, the throughput over that of one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hexsim.datasheets.background import Background
from hexsim.datasheets.estimate import Estimate
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.planning.plan import Plan
from hexsim.q6_scheduler import URGENCY, PriorityHint
from hexsim.simulation.simulator import Job, Workload
from hexsim.studies.repetition import Repetition, in_order, prolonged, repetition
from hexsim.timing.results import InferenceTiming, Result, Timeline
from hexsim.timing.simtime import PS_PER_MS, PS_PER_SECOND

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

    `perf_profile` and `inferences` None mean those of the loop.
    """

    plan: Plan
    instances: int = 1
    priority: PriorityHint = "normal"
    perf_profile: str | None = None
    inferences: int | None = None


@dataclass(frozen=True)
class ClosedLoop:
    """How every instance calls: `inferences` times, or until `duration_ms` if that is given."""

    inferences: int = 20
    duration_ms: float | None = None
    perf_profile: str | None = None
    buffer: BufferType | None = None
    background: tuple[Background, ...] = ()


@dataclass(frozen=True)
class CallStatistics:
    """Latencies of some calls, and the time from the first call to the last return."""

    latencies_ps: tuple[int, ...]
    elapsed_ps: int

    @classmethod
    def of(cls, inferences: Iterable[InferenceTiming]) -> CallStatistics:
        """Measure some inferences."""
        calls = list(inferences)
        start = min(call.start_ps for call in calls)
        end = max(call.end_ps for call in calls)
        return cls(tuple(call.total_ps for call in calls), end - start)

    @property
    def inferences(self) -> int:
        """Number of calls."""
        return len(self.latencies_ps)

    @property
    def per_second(self) -> float:
        """Inferences per second."""
        return self.inferences * PS_PER_SECOND / self.elapsed_ps

    def percentile_ps(self, percent: float) -> int:
        """Return the least latency that `percent` of the calls do not exceed (nearest rank)."""
        return int(np.percentile(self.latencies_ps, percent, method="inverted_cdf"))


@dataclass(frozen=True)
class Instance:
    """One thread: its statistics in the run, and those of one such thread by itself."""

    caller: Caller
    pace: CallStatistics
    alone: CallStatistics


@dataclass(frozen=True)
class Utilisation:
    """A resource and the share of the time in which it is in use, over all its units, 0 .. 1."""

    resource: str
    share: float


@dataclass(frozen=True)
class Throughput:
    """The results of several instances; `result` has the timeline of the simulated calls.

    `power_w` is the average over the simulated calls, without background clients. With `repeats`
    later calls follow from the period.
    """

    instances: tuple[Instance, ...]
    total: CallStatistics
    utilisations: tuple[Utilisation, ...]
    power_w: Estimate
    result: Result
    repeats: Repetition | None = None

    @property
    def gain(self) -> float:
        """Work done per second, relative to one instance by itself."""
        work_s = sum(
            instance.pace.inferences / instance.alone.per_second for instance in self.instances
        )
        return work_s * PS_PER_SECOND / self.total.elapsed_ps

    @property
    def limit(self) -> Utilisation | None:
        """The resource that limits the throughput; None if none is in use all the time."""
        busiest = max(self.utilisations, key=lambda resource: resource.share)
        return busiest if busiest.share >= _LIMITING_SHARE else None


def throughput(
    platform: Platform, callers: Sequence[Caller], loop: ClosedLoop | None = None
) -> Throughput:
    """Run all instances of all callers at once, and one of each caller by itself.

    Raises HexsimError for impossible counts and for networks that the phone cannot run.
    """
    loop = loop or ClosedLoop()
    _check(callers, loop)
    if platform.graphs > 1 and len({caller.priority for caller in callers}) > 1:
        raise HexsimError("graphs that run at a time have one priority; give --priority one value")
    threads = [number for number, caller in enumerate(callers) for _ in range(caller.instances)]
    run = _run(platform, [callers[number] for number in threads], loop)
    by_itself = [run] if len(threads) == 1 else (_run(platform, [c], loop) for c in callers)
    alone = [CallStatistics.of(single_run.calls) for single_run in by_itself]
    instances = tuple(
        Instance(
            callers[number],
            CallStatistics.of(call for call in run.calls if call.job == job),
            alone[number],
        )
        for job, number in enumerate(threads)
    )
    used = _utilisations(platform, run.result.timeline)
    profiles = [callers[number].perf_profile or loop.perf_profile for number in threads]
    power_w = platform.power(run.result, profiles)
    return Throughput(
        instances, CallStatistics.of(run.calls), used, power_w, run.result, run.repeats
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


def _utilisations(platform: Platform, timeline: Timeline) -> tuple[Utilisation, ...]:
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
    return tuple(Utilisation(resource, share) for resource, share in shares.items())


def _units(platform: Platform, resource: str) -> int:
    if resource == "hardware threads":
        return platform.chip.dsp.hardware_threads
    if resource == "htp":
        return platform.graphs
    return platform.chip.dsp.hvx.contexts if resource.startswith("hvx") else 1
