"""When a node ran, and what its time went on.

The span of a node is divided without remainder. What the main thread spends on dispatch is
overhead. What is left of each stage is the same length for all of its workers; their time is told
apart and averaged over them:

- compute: issuing packets, the empty slots of their schedule included;
- preemption: having no hardware thread, or changing over to one;
- l2: running slower than the issue rule allows, because the port to L2 is shared;
- latency and ddr: waiting for a prefetch or for the last write-back. It counts as latency as far
  as the same transfers would have taken that long alone, limited by one stream's bytes in
  flight, and as ddr where only more bandwidth would have shortened them;
- imbalance: being done before the slowest worker.

The largest part is the bound of the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hexsim.timing.results import Bound


@dataclass
class StageTime:
    """Time of one stage in picoseconds, summed over its workers or over its transfers."""

    workers: int
    issuing_ps: float = 0.0
    running_ps: int = 0
    preempted_ps: int = 0
    waiting_ps: int = 0
    idle_ps: int = 0
    moving_ps: float = 0.0
    latency_ps: float = 0.0

    def ran(self, took_ps: int, issue_ps: float, preempted_ps: int = 0) -> None:
        """Book a job: how long it took, issues by itself, and stood still for others."""
        self.preempted_ps += preempted_ps
        self.running_ps += took_ps - preempted_ps
        self.issuing_ps += min(issue_ps, took_ps - preempted_ps)

    def moved(self, took_ps: float, latency_ps: float) -> None:
        """Book a transfer: how long it took, and as far as latency alone explains that."""
        self.moving_ps += took_ps
        self.latency_ps += min(latency_ps, took_ps)

    @property
    def parts_ps(self) -> dict[Bound, float]:
        """The stage's length, divided."""
        by_latency = self.latency_ps / self.moving_ps if self.moving_ps else 0.0
        whole: dict[Bound, float] = {
            "compute": self.issuing_ps,
            "preemption": self.preempted_ps,
            "l2": self.running_ps - self.issuing_ps,
            "latency": self.waiting_ps * by_latency,
            "ddr": self.waiting_ps * (1 - by_latency),
            "imbalance": self.idle_ps,
        }
        return {bound: time / self.workers for bound, time in whole.items()}


@dataclass
class NodeTiming:
    """When a node ran, and where its time went."""

    start_ps: int = 0
    end_ps: int = 0
    dispatch_ps: int = 0
    stages: list[StageTime] = field(default_factory=list)

    def stage(self, workers: int) -> StageTime:
        """Begin to book a stage."""
        self.stages.append(StageTime(workers))
        return self.stages[-1]

    @property
    def parts_ps(self) -> Mapping[Bound, float]:
        """The node's span, divided."""
        parts: dict[Bound, float] = {
            "compute": 0.0,
            "ddr": 0.0,
            "latency": 0.0,
            "l2": 0.0,
            "preemption": 0.0,
            "imbalance": 0.0,
            "overhead": self.dispatch_ps,
        }
        for stage in self.stages:
            for bound, time in stage.parts_ps.items():
                parts[bound] += time
        return parts
