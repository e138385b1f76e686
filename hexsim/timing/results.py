"""What a simulation returns: timings of layers and overheads, spans, counters, coverage.

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

Times are integer picoseconds. Every picosecond of an inference is charged to exactly one layer
or one named overhead along its critical path, so layers and overheads add up to the total.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from hexsim.errors import unknown
from hexsim.records import dataclass, field
from hexsim.runtimes import Engine
from hexsim.timing.picoseconds import PS_PER_SECOND, PS_PER_US, ps_to_clocks
from hexsim.timing.work import CostModel

Bound = Literal["compute", "ddr", "latency", "l2", "imbalance", "overhead", "preemption"]
"""What a layer spends its time on; `latency` is DDR limited by the bytes in flight of a
stream, `imbalance` is workers waiting for the slowest one, `preemption` is workers without a
hardware thread, or waiting for a context switch."""


Scope = Literal["runtime", "rpc", "executor", "graph"]
"""What an overhead belongs to: the runtime, on the CPU; FastRPC, between the processors; on the
DSP the executor, around the graph; or the graph itself, beside its layers."""


def largest(parts_ps: Mapping[Bound, float]) -> Bound:
    """Return the part that takes most of the time; of equal ones the first."""
    return max(parts_ps, key=lambda part: parts_ps[part])


@dataclass(frozen=True, kw_only=True)
class LayerTiming:
    """One layer of one inference, in the clock of the engine that ran it.

    `stalls` are issue slots in which its threads issue nothing, waiting for results or memory.
    `hvx_utilisation` is the share of the issue slots of all vector contexts that it uses,
    `array_utilisation` the share of the tensor engine's multiply-accumulates.
    `parts_ps` divides its duration; the largest part is its bound. `layer_class` is the class under
    which measured layers are compared (`KernelCall.layer_class`). A layer that the engine of its
    runtime leaves to the CPU has `cpu_reason`, the crossings there and back as far as they are its
    own, and `instead`, what would keep it on the engine, where that is known.
    """

    name: str
    type: str
    engine: Engine
    start_ps: int
    duration_ps: int
    clock_hz: float
    macs: int
    packets: int = 0
    stalls: int = 0
    hvx_utilisation: float = 0.0
    ddr_read_bytes: int
    ddr_write_bytes: int
    l2_bytes: int = 0
    vtcm_bytes: int = 0
    parts_ps: Mapping[Bound, float]
    cost_model: CostModel
    array_utilisation: float = 0.0
    layer_class: str = ""
    cpu_reason: str = ""
    to_cpu_us: float = 0.0
    from_cpu_us: float = 0.0
    instead: str = ""

    @property
    def bound(self) -> Bound:
        """The part that takes most of its duration."""
        return largest(self.parts_ps)

    @property
    def bound_share(self) -> float:
        """The share of its duration that the bound takes, 0 .. 1."""
        return self.parts_ps[self.bound] / max(1, self.duration_ps)

    @property
    def cycles(self) -> int:
        """Duration in cycles of the engine's clock."""
        return ps_to_clocks(self.duration_ps, self.clock_hz)

    @property
    def stall_share(self) -> float:
        """The share of stalls in all issue slots of its threads, 0 .. 1."""
        return self.stalls / max(1, self.packets + self.stalls)

    @property
    def us(self) -> float:
        """Duration in microseconds."""
        return self.duration_ps / PS_PER_US

    @property
    def ddr_bytes(self) -> int:
        """Bytes from and to DDR."""
        return self.ddr_read_bytes + self.ddr_write_bytes


@dataclass(frozen=True)
class Overhead:
    """A named part of the critical path that is no layer.

    `forward` is True for what the runtime reports inside forward propagate; the rest is spent in
    the application. `scope` says what it belongs to. Bytes are counted only for changes of layout
    around a DSP subnet; the cost per element of conversions and copies includes theirs.
    `packets` are those that the DSP issues in it, `vector_packets` the packets among them
    that need a vector context.
    """

    name: str
    start_ps: int
    duration_ps: int
    forward: bool = True
    ddr_read_bytes: int = 0
    ddr_write_bytes: int = 0
    l2_bytes: int = 0
    vtcm_bytes: int = 0
    scope: Scope = "runtime"
    packets: int = 0
    vector_packets: int = 0

    @property
    def us(self) -> float:
        """Duration in microseconds."""
        return self.duration_ps / PS_PER_US


class Span(NamedTuple):
    """An activity on a track from t0 to t1; spans of one track do not overlap."""

    track: str
    name: str
    t0_ps: int
    t1_ps: int


@dataclass(frozen=True)
class Level:
    """A rate or amount that changes in steps of (time in picoseconds, value up to `capacity`).

    `unit` is the unit of value and capacity.
    """

    name: str
    unit: str
    capacity: float
    steps: tuple[tuple[int, float], ...]

    @property
    def total(self) -> float:
        """The rate times the seconds until the last step."""
        return sum(
            value * (end - start) / PS_PER_SECOND
            for (start, value), (end, _) in pairwise(self.steps)
        )


@dataclass(frozen=True)
class Timeline:
    """All spans, in order of their start; `end_ps` is when all activities have ended.

    Tracks of hardware threads and vector contexts, and `levels`, exist only for a workload that is
    recorded.
    """

    spans: tuple[Span, ...]
    end_ps: int
    levels: tuple[Level, ...] = ()

    @cached_property
    def tracks(self) -> tuple[str, ...]:
        """Names of the tracks, sorted."""
        return tuple(sorted({span.track for span in self.spans}))

    def busy_ps(self, track: str) -> int:
        """Return the time in which a track has a span; HexsimError for an unknown track."""
        if track not in self.tracks:
            raise unknown("track", track, self.tracks)
        return sum(span.t1_ps - span.t0_ps for span in self.spans if span.track == track)

    def idle_ps(self, track: str) -> int:
        """Return the time in which a track has no span."""
        return self.end_ps - self.busy_ps(track)


@dataclass(frozen=True)
class Coverage:
    """Layers and MACs of one inference by cost model."""

    layers: Mapping[CostModel, int]
    macs: Mapping[CostModel, int]

    @classmethod
    def of(cls, layers: Iterable[LayerTiming]) -> Coverage:
        """Count the layers of one inference."""
        counts: dict[CostModel, int] = {}
        macs: dict[CostModel, int] = {}
        for layer in layers:
            counts[layer.cost_model] = counts.get(layer.cost_model, 0) + 1
            macs[layer.cost_model] = macs.get(layer.cost_model, 0) + layer.macs
        return cls(counts, macs)

    def layer_share(self, model: CostModel) -> float:
        """Fraction of the layers, 0 .. 1."""
        return self.layers.get(model, 0) / max(1, sum(self.layers.values()))

    def mac_share(self, model: CostModel) -> float:
        """Fraction of the MACs, 0 .. 1."""
        return self.macs.get(model, 0) / max(1, sum(self.macs.values()))


@dataclass(frozen=True)
class InferenceTiming:
    """One inference: `job` is its index in the workload."""

    job: int
    start_ps: int
    end_ps: int
    layers: tuple[LayerTiming, ...]
    overheads: tuple[Overhead, ...]

    @property
    def total_ps(self) -> int:
        """Wall clock around the call, "Total Inference Time"."""
        return self.end_ps - self.start_ps

    @property
    def forward_ps(self) -> int:
        """What the runtime reports inside it, "Forward Propagate"."""
        return self.total_ps - sum(o.duration_ps for o in self.overheads if not o.forward)


@dataclass(frozen=True)
class ClientTiming:
    """One background client: a latency per job that ended, from its release, in their order.

    `skipped` jobs found no vector context free and were dropped.
    """

    name: str
    unit: Literal["hvx", "scalar"]
    period_ps: int
    deadline_ps: int
    latencies_ps: tuple[int, ...]
    skipped: int

    @property
    def released(self) -> int:
        """Jobs that were released."""
        return len(self.latencies_ps) + self.skipped

    @property
    def missed(self) -> int:
        """Jobs that ended after their deadline."""
        return sum(latency > self.deadline_ps for latency in self.latencies_ps)

    @property
    def mean_ps(self) -> float:
        """Mean latency; 0 if no job ended."""
        return sum(self.latencies_ps) / max(1, len(self.latencies_ps))

    @property
    def worst_ps(self) -> int:
        """Longest latency; 0 if no job ended."""
        return max(self.latencies_ps, default=0)


@dataclass(frozen=True)
class Result:
    """A simulated workload.

    Its times and layers are those of the first inference, usually the only one. `counters` are
    totals of the whole workload by name. `init` is the time to build the network of the first job,
    in named parts, and `release` the time to release it. `clients` used the DSP in the background.
    """

    inferences: tuple[InferenceTiming, ...]
    timeline: Timeline = field(repr=False)
    counters: Mapping[str, int]
    init: tuple[Overhead, ...]
    clients: tuple[ClientTiming, ...] = ()
    release: tuple[Overhead, ...] = ()

    @property
    def total_ps(self) -> int:
        """Wall clock of the first inference."""
        return self.inferences[0].total_ps

    @property
    def forward_ps(self) -> int:
        """Forward propagate time of the first inference."""
        return self.inferences[0].forward_ps

    @property
    def total_us(self) -> float:
        """Wall clock of the first inference in microseconds."""
        return self.total_ps / PS_PER_US

    @property
    def forward_us(self) -> float:
        """Forward propagate time of the first inference in microseconds."""
        return self.forward_ps / PS_PER_US

    @property
    def init_ps(self) -> int:
        """Time to make the first job's network ready, before any inference."""
        return sum(part.duration_ps for part in self.init)

    @property
    def release_ps(self) -> int:
        """Time to tear the first job's network down, after all inferences."""
        return sum(part.duration_ps for part in self.release)

    def init_part_ps(self, *names: str) -> int:
        """Return the time of the initialisation parts of these names; 0 for those absent."""
        return sum(part.duration_ps for part in self.init if part.name in names)

    @property
    def layers(self) -> tuple[LayerTiming, ...]:
        """Layers of the first inference."""
        return self.inferences[0].layers

    @property
    def uses_hta(self) -> bool:
        """True if the tensor engine computes a layer of the first inference."""
        return any(layer.engine == "hta" for layer in self.layers)

    @property
    def overheads(self) -> tuple[Overhead, ...]:
        """Named overheads of the first inference."""
        return self.inferences[0].overheads

    @cached_property
    def coverage(self) -> Coverage:
        """The cost models of the layers of the first inference."""
        return Coverage.of(self.layers)


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
