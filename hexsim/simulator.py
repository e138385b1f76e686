"""Simulating a workload: plans with arrivals, priorities and counts on a chip under a stack.

One inference is the trivial workload. Jobs run side by side, each in a process of its own; the
inferences of one job run one after another, each after its idle time. Equal inputs give
byte-equal results.
"""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.chips import Chip
from hexsim.errors import HexsimError
from hexsim.host.initialisation import initialisation
from hexsim.inference import Inference, Request
from hexsim.machine import Machine
from hexsim.plan import Plan
from hexsim.results import InferenceTiming, Result, Timeline
from hexsim.simtime import PS_PER_MS, Process
from hexsim.stacks import BufferType, Stack


@dataclass(frozen=True)
class Job:
    """A plan to be run `count` times from `arrival_ps` on.

    `idle_ms` is the silence before each inference. `urgency` shifts the QuRT priorities of the
    job's threads, negative for sooner. `perf_profile` and `buffer` default to the stack's own.
    """

    plan: Plan
    arrival_ps: int = 0
    count: int = 1
    urgency: int = 0
    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None


@dataclass(frozen=True)
class Workload:
    """Jobs that share a phone."""

    jobs: tuple[Job, ...]

    @classmethod
    def single(
        cls,
        plan: Plan,
        *,
        perf_profile: str | None = None,
        idle_ms: float = 0.0,
        buffer: BufferType | None = None,
    ) -> Workload:
        """One inference of `plan`."""
        return cls((Job(plan, perf_profile=perf_profile, idle_ms=idle_ms, buffer=buffer),))


def simulate(workload: Workload, chip: Chip, stack: Stack) -> Result:
    """Run a workload on a chip under a stack.

    Raises HexsimError if the workload is empty, or the chip or stack lacks what a job needs.
    """
    if not any(job.count > 0 for job in workload.jobs):
        raise HexsimError("the workload has no inference to run; give a job a count of at least 1")
    for job in workload.jobs:
        for runtime in dict.fromkeys(subnet.runtime for subnet in job.plan.subnets):
            chip.require(runtime)
            stack.require(runtime)
    machine = Machine(chip, stack, [stack.profile(job.perf_profile) for job in workload.jobs])
    finished: list[InferenceTiming] = []
    for index in range(len(workload.jobs)):
        machine.env.process(_run_job(machine, workload, index, finished))
    machine.env.run()
    finished.sort(key=lambda inference: (inference.start_ps, inference.job))
    spans = sorted(machine.spans, key=lambda span: (span.t0_ps, span.track, span.t1_ps))
    first = workload.jobs[0]
    return Result(
        inferences=tuple(finished),
        timeline=Timeline(tuple(spans), machine.env.now),
        counters=_counters(finished),
        init=initialisation(first.plan, stack, stack.profile(first.perf_profile)),
    )


def _run_job(
    machine: Machine, workload: Workload, index: int, finished: list[InferenceTiming]
) -> Process:
    job = workload.jobs[index]
    request = Request(
        job=index,
        name=f"job {index} " if len(workload.jobs) > 1 else "",
        plan=job.plan,
        profile=machine.stack.profile(job.perf_profile),
        buffer=machine.stack.buffer(job.buffer),
        idle_s=job.idle_ms / 1e3,
        urgency=job.urgency,
    )
    inference = Inference(machine, request)
    yield machine.env.timeout(job.arrival_ps)
    for number in range(job.count):
        if number:
            yield machine.env.timeout(round(job.idle_ms * PS_PER_MS))
        finished.append((yield from inference.run()))


def _counters(inferences: list[InferenceTiming]) -> dict[str, int]:
    """Totals of the workload."""
    layers = [layer for inference in inferences for layer in inference.layers]
    return {
        "inferences": len(inferences),
        "macs": sum(layer.macs for layer in layers),
        "packets": sum(layer.packets for layer in layers),
        "ddr_read_bytes": sum(layer.ddr_read_bytes for layer in layers),
        "ddr_write_bytes": sum(layer.ddr_write_bytes for layer in layers),
        "l2_bytes": sum(layer.l2_bytes for layer in layers),
        "vtcm_bytes": sum(layer.vtcm_bytes for layer in layers),
    }
