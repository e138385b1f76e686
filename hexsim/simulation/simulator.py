"""Simulating a workload: plans with arrivals, priorities and counts on a chip under a stack.

The smallest workload is one inference. Jobs run at the same time, each in a process of its own; the
inferences of one job run one after another, each after its idle time. Background clients release
jobs of their own until the last inference has ended. Equal inputs give byte-equal results.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, TypedDict

import simpy

from hexsim import budget
from hexsim.datasheets.background import Background
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import BufferType, Stack
from hexsim.errors import HexsimError, require_number, spelled
from hexsim.host.initialisation import initialisation, release
from hexsim.planning.plan import Plan
from hexsim.records import dataclass
from hexsim.simulation.inference import RunningInference
from hexsim.simulation.phone import Phone, Request
from hexsim.timing.memory import Traffic
from hexsim.timing.picoseconds import PS_PER_MS, PS_PER_SECOND
from hexsim.timing.results import ClientTiming, InferenceTiming, Result, Timeline
from hexsim.timing.simtime import Environment, Process

if TYPE_CHECKING:
    from hexsim.simulation.background_clients import ClientSession

_MOST_IDLE_MS = 1e9
"""Eleven days; all parts that fall asleep have done so long before."""
_PATIENCE_PS = 10 * PS_PER_SECOND
"""An inference that takes longer beside background clients gets no computing time."""


@dataclass(frozen=True)
class Job:
    """A plan to be run `count` times from `arrival_ps` on, or until `until_ps` if given.

    With `until_ps` no inference begins at or after that time, except the first.

    `idle_ms` is the idle time before each inference. `urgency` shifts the QuRT priorities of the
    job's threads; negative is more urgent. `perf_profile` and `buffer` default to the stack's own.
    """

    plan: Plan
    arrival_ps: int = 0
    count: int = 1
    until_ps: int | None = None
    urgency: int = 0
    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None

    def __post_init__(self) -> None:
        """Raise HexsimError for values out of range."""
        require_number("idle_ms, the idle time before a call,", self.idle_ms, 0, _MOST_IDLE_MS)
        require_number("the count of a job", self.count, 0, sys.maxsize)
        require_number("the arrival of a job in picoseconds", self.arrival_ps, 0, sys.maxsize)


class CallPattern(TypedDict, total=False):
    """How an application calls: fields of `Job` and `Workload`."""

    perf_profile: str | None
    idle_ms: float
    buffer: BufferType | None
    background: tuple[Background, ...]
    recorded: bool


@dataclass(frozen=True)
class Workload:
    """Jobs that share a phone, and the clients that use its DSP meanwhile.

    `recorded` adds the tracks of hardware threads and vector contexts and the levels of DDR and CPU
    to the timeline, which makes the simulation slower. A tensor processor runs `graphs` at a
    time. The result has no layers and no counters of them unless it `lists_layers`.
    """

    jobs: tuple[Job, ...]
    background: tuple[Background, ...] = ()
    recorded: bool = False
    graphs: int = 1
    lists_layers: bool = True

    @classmethod
    def single(
        cls,
        plan: Plan,
        *,
        perf_profile: str | None = None,
        idle_ms: float = 0.0,
        buffer: BufferType | None = None,
        background: tuple[Background, ...] = (),
        recorded: bool = False,
    ) -> Workload:
        """Return a workload of one inference of `plan`."""
        job = Job(plan, perf_profile=perf_profile, idle_ms=idle_ms, buffer=buffer)
        return cls((job,), background, recorded)


def _require_runtimes(plan: Plan, chip: Chip, stack: Stack) -> None:
    """Raise HexsimError unless chip and stack have what the plan runs on, fallback included."""
    for runtime, subnet in {subnet.runtime: subnet for subnet in reversed(plan.subnets)}.items():
        if runtime != plan.runtime and not chip.simulates(runtime):
            raise HexsimError(
                f"layer '{subnet.calls[0].layer.name}' falls back to the {runtime} "
                f"({subnet.reason}), for which {chip.name} has no data; leave it out of the "
                f"network ({spelled('output_names')}), or choose another chip"
            )
        chip.require(runtime)
        stack.require(runtime)


def simulate(workload: Workload, chip: Chip, stack: Stack) -> Result:
    """Run a workload on a chip under a stack.

    Raises HexsimError if the workload is empty, if the chip or stack lacks what a job or a client
    needs, and if the clients leave no time for the networks.
    """
    if not any(job.count > 0 for job in workload.jobs):
        raise HexsimError("the workload has no inference to run; give a job a count of at least 1")
    for name, count in Counter(load.name for load in workload.background).items():
        if count > 1:
            raise HexsimError(f"background load '{name}' is given {count} times; once is enough")
    kernel_calls = sum(_calls(job) * job.count for job in workload.jobs if job.until_ps is None)
    budget.require(budget.KERNEL_CALLS, kernel_calls, "the workload")
    for job in workload.jobs:
        _require_runtimes(job.plan, chip, stack)
    phone = _phone(workload, chip, stack)
    env = phone.env
    finished: list[InferenceTiming] = []
    jobs = env.process(_run_jobs(phone, workload, finished))
    clients = _clients(phone, workload.background)
    if clients:
        env.process(_watch(phone, workload, finished, jobs))
    _run(env, env.all_of([jobs, *(env.process(client.run(jobs)) for client in clients)]), chip)
    levels = phone.recording.end() if phone.recording else ()
    finished.sort(key=lambda inference: (inference.start_ps, inference.job))
    spans = sorted(phone.spans, key=attrgetter("t0_ps", "track", "t1_ps"))
    first = workload.jobs[0]
    return Result(
        inferences=tuple(finished),
        timeline=Timeline(tuple(spans), env.now, levels),
        counters={**_counters(finished, phone.dsp_traffic), "events": env.scheduled},
        init=initialisation(first.plan, stack, stack.profile(first.perf_profile)),
        clients=tuple(client.timing for client in clients),
        release=release(first.plan, stack, stack.profile(first.perf_profile)),
    )


def _run(env: Environment, until: simpy.Event, chip: Chip) -> None:
    """Simulate until an event; HexsimError if it can no longer happen."""
    try:
        env.run(until)
    except RuntimeError:
        if until.triggered or env.peek() < math.inf:
            raise
        raise HexsimError(
            f"a part of {chip.name} is so slow that its work never ends; look for a rate of "
            "the chip or the stack that is far below usual ones"
        ) from None


def clients_alone(
    workload: Workload, chip: Chip, stack: Stack, until_ps: int
) -> tuple[ClientTiming, ...]:
    """Run only the background clients of a workload, releasing jobs until `until_ps`."""
    phone = _phone(workload, chip, stack)
    env = phone.env
    clients = _clients(phone, workload.background)
    stop = env.timeout(until_ps)
    env.run(env.all_of([env.process(client.run(stop)) for client in clients]))
    return tuple(client.timing for client in clients)


def _phone(workload: Workload, chip: Chip, stack: Stack) -> Phone:
    """Return a phone at the clocks that the jobs vote for."""
    profiles = [stack.profile(job.perf_profile) for job in workload.jobs]
    return Phone(chip, stack, profiles, recorded=workload.recorded, graphs=workload.graphs)


def _clients(phone: Phone, background: tuple[Background, ...]) -> list[ClientSession]:
    return [
        phone.dsp.client(f"{load.name} {client.name}", client)
        for load in background
        for client in load.clients
    ]


def _watch(
    phone: Phone, workload: Workload, finished: list[InferenceTiming], jobs: simpy.Event
) -> Process:
    """Raise HexsimError if the clients leave no time for the networks."""
    patience_ps = _PATIENCE_PS + max(
        job.arrival_ps + round(job.idle_ms * PS_PER_MS) for job in workload.jobs
    )
    while not jobs.processed:
        before = len(finished)
        yield phone.env.timeout(patience_ps)
        if len(finished) == before and not jobs.processed:
            names = ", ".join(load.name for load in workload.background)
            raise HexsimError(
                f"background {names}: its clients leave no time for the network, so that no "
                f"inference ends within {_PATIENCE_PS // PS_PER_SECOND} s; give them fewer "
                "packets, longer periods or less urgent (higher) priorities"
            )


def _run_jobs(phone: Phone, workload: Workload, finished: list[InferenceTiming]) -> Process:
    indices = range(len(workload.jobs))
    processes = [phone.env.process(_run_job(phone, workload, i, finished)) for i in indices]
    yield phone.env.all_of(processes)


def _run_job(
    phone: Phone, workload: Workload, index: int, finished: list[InferenceTiming]
) -> Process:
    job = workload.jobs[index]
    request = Request(
        job=index,
        name=f"job {index} " if len(workload.jobs) > 1 else "",
        plan=job.plan,
        profile=phone.stack.profile(job.perf_profile),
        buffer=phone.stack.buffer(job.buffer),
        idle_s=job.idle_ms / 1e3,
        urgency=job.urgency,
    )
    inference = RunningInference(phone, request, lists_layers=workload.lists_layers)
    yield phone.env.timeout(job.arrival_ps)
    number = 0
    while _goes_on(job, number, phone.env.now):
        if number:
            yield phone.env.timeout(round(job.idle_ms * PS_PER_MS))
        finished.append((yield from inference.run()))
        number += 1
        if job.until_ps is not None:
            budget.require(
                budget.KERNEL_CALLS, number * _calls(job), "the duration of the workload"
            )


def _calls(job: Job) -> int:
    return sum(len(subnet.calls) for subnet in job.plan.subnets)


def _goes_on(job: Job, number: int, now: int) -> bool:
    """Tell whether a job begins its inference `number`."""
    if job.until_ps is None:
        return number < job.count
    return number == 0 or now < job.until_ps


def _counters(inferences: list[InferenceTiming], dsp: Traffic) -> dict[str, int]:
    """Return totals of the workload's layers, and the traffic of the DSP's path to DDR."""
    layers = [layer for inference in inferences for layer in inference.layers]
    return {
        "inferences": len(inferences),
        "macs": sum(layer.macs for layer in layers),
        "packets": sum(layer.packets for layer in layers),
        "ddr_read_bytes": sum(layer.ddr_read_bytes for layer in layers),
        "ddr_write_bytes": sum(layer.ddr_write_bytes for layer in layers),
        "l2_bytes": sum(layer.l2_bytes for layer in layers),
        "vtcm_bytes": sum(layer.vtcm_bytes for layer in layers),
        "dsp_ddr_read_bytes": dsp.read_bytes,
        "dsp_ddr_write_bytes": dsp.write_bytes,
    }
