"""When a node ran, and how its time is divided.

The span of a node is divided without remainder. The dispatch by the main thread is overhead. The
rest of each stage is equally long for all of its workers; their time is divided as follows and
averaged over them:

- compute: issuing packets, the empty slots of their schedule included;
- preemption: having no hardware thread, or waiting for a context switch;
- l2: running slower than the issue rule allows, because the port to L2 is shared;
- latency and ddr: waiting for a prefetch or for the last write-back. The time that the same
  transfers would have taken alone, limited by the bytes in flight of one stream, is latency;
  the rest, which only more bandwidth would shorten, is ddr;
- imbalance: waiting for the slowest worker.

The largest part is the bound of the node.
"""

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
        """Add a job: its duration, its issue time alone, and how long it was preempted."""
        self.preempted_ps += preempted_ps
        self.running_ps += took_ps - preempted_ps
        self.issuing_ps += min(issue_ps, took_ps - preempted_ps)

    def moved(self, took_ps: float, latency_ps: float) -> None:
        """Add a transfer: its duration, and how much of it latency alone explains."""
        self.moving_ps += took_ps
        self.latency_ps += min(latency_ps, took_ps)

    @property
    def parts_ps(self) -> dict[Bound, float]:
        """The duration of the stage, divided."""
        by_latency = self.latency_ps / self.moving_ps if self.moving_ps else 0.0
        sums: dict[Bound, float] = {
            "compute": self.issuing_ps,
            "preemption": self.preempted_ps,
            "l2": self.running_ps - self.issuing_ps,
            "latency": self.waiting_ps * by_latency,
            "ddr": self.waiting_ps * (1 - by_latency),
            "imbalance": self.idle_ps,
        }
        return {bound: time / self.workers for bound, time in sums.items()}


@dataclass
class NodeTiming:
    """When a node ran, and how its time is divided."""

    start_ps: int = 0
    end_ps: int = 0
    dispatch_ps: int = 0
    stages: list[StageTime] = field(default_factory=list)

    def stage(self, workers: int) -> StageTime:
        """Start recording a stage."""
        self.stages.append(StageTime(workers))
        return self.stages[-1]

    @property
    def parts_ps(self) -> Mapping[Bound, float]:
        """The span of the node, divided."""
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
