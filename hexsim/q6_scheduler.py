"""The Q6: Hexagon NN's node by node execution on the hardware threads of the DSP.

One graph runs as one main thread and a few vector workers. Nodes run strictly one after another:
the main thread prepares a node, queues its jobs, wakes the workers and waits for the join. The
workers take jobs from one queue, in order; a job waits for the prefetch of its slice. The next
slice is fetched while the workers compute, as far as there are buffers, so only the fetch of the
first slice is not hidden; some nodes start it for the next one when they end. A convolution's
workers prefetch the rows of their jobs themselves. Results that do not stay in L2 are written back
after the jobs.

Each worker locks a vector context for the whole inference. Taking a
job from the queue costs each worker the fast path of a pipe.

Left out: reruns after exceeded ranges.

Sources: Hexagon NN, hexagon/src/execute.c, nn_os.c, nn_os_qurt.c (thread priorities).
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Literal

import simpy

from hexsim.qurt_threads import Q6Core, SoftwareThread, VectorContexts
from hexsim.records import dataclass
from hexsim.timing.memory import Ddr
from hexsim.timing.results import NodeTiming, Span, StageTime
from hexsim.timing.simtime import Activity, Moment, Process
from hexsim.timing.work import NodeWork, Stage, WorkItem

_MAIN_PRIORITY = 0xC0
_WORKER_PRIORITY = 0xD0

PriorityHint = Literal["low", "normal", "high"]
URGENCY: dict[PriorityHint, int] = {"low": 5, "normal": 0, "high": -5}
"""How SNPE's ExecutionPriorityHint shifts the priorities of a graph's threads.

Hexagon NN keeps its main thread between 0xBB and 0xC5 and its workers between 0xC8 and 0xD8
(nn_os_qurt.c, documented); that a hint goes to the ends of the narrower range is assumed.
"""


@dataclass(frozen=True)
class DispatchRule:
    """Costs of software, in core clocks: the main thread per graph node, per worker that it wakes
    and after a wait for contexts; in packets: of a worker for each job that it takes.

    `copy_bytes_per_s` is the rate of the unit that copies weights to VTCM.
    """

    node_clocks: float
    hand_off_clocks: float
    wake_clocks: float
    fast_path_packets: float
    workers: int
    copy_bytes_per_s: float = math.inf


@dataclass
class _Flow:
    """Signals of one stage (which slices have arrived, which are done) and its time."""

    time: StageTime
    workers: Sequence[SoftwareThread]
    arrived: list[Moment | None]
    done: list[Moment]
    unfinished: list[int]
    queue: deque[tuple[int, WorkItem]]


class GraphSession:
    """One graph on the DSP: its threads, and the spans that they record."""

    def __init__(
        self,
        core: Q6Core,
        ddr: Ddr,
        contexts: VectorContexts,
        rule: DispatchRule,
        name: str,
        urgency: int,
        spans: list[Span],
    ) -> None:
        self._env = core.env
        self._core = core
        self._ddr = ddr
        self._contexts = contexts
        self._rule = rule
        self._name = name
        self._urgency = urgency
        self._spans = spans
        self.main = SoftwareThread(f"{name} main", _MAIN_PRIORITY + urgency)
        self.workers = tuple(
            SoftwareThread(f"{name} worker {index}", _WORKER_PRIORITY + urgency)
            for index in range(rule.workers)
        )

    def run_node(self, name: str, work: NodeWork, factor: float = 1.0) -> Process:
        """Run one node, which takes `factor` times its work; the process returns its `NodeTiming`.

        Waking up and the latency of DDR stay as they are.
        """
        timing, work = NodeTiming(start_ps=self._env.now), work.times(factor)
        early = self._begin(name, work.stages[0], timing) if work.fetched_early else None
        yield from self.run_clocks(name, self._rule.node_clocks * work.nodes * factor)
        if work.main_packets:
            yield from self.run_item(name, WorkItem(work.main_packets, vector=False))
        timing.dispatch_ps = self._env.now - timing.start_ps
        for stage in work.stages:
            start, workers = self._env.now, self._crew(stage)
            yield from self.run_clocks(name, self._rule.hand_off_clocks * len(workers) * factor)
            timing.dispatch_ps += self._env.now - start
            flow, early = early or self._begin(name, stage, timing), None
            yield from self._run_stage(name, stage, flow)
        timing.end_ps = self._env.now
        return timing

    def run_clocks(self, name: str, clocks: float) -> Process:
        """Run `clocks` of scalar code on the main thread."""
        yield from self.run_item(name, self.item(clocks, vector=False))

    def item(self, clocks: float, *, vector: bool) -> WorkItem:
        """Return `clocks` of code as a work item, scalar code unless `vector`."""
        return self._core.vector_item(clocks) if vector else self._core.scalar_item(clocks)

    def run_item(self, name: str, item: WorkItem) -> Process:
        """Run a work item on the main thread."""
        start = self._env.now
        yield self._core.run(self.main, item)
        self._record(self.main.name, name, start)

    def lock_contexts(self) -> Process:
        """Lock a vector context for each worker; waking up after a wait takes time."""
        lock = self._contexts.lock(self._name, self._rule.workers, _WORKER_PRIORITY + self._urgency)
        if not lock.triggered:
            yield lock
            yield from self.run_clocks("context_wait", self._rule.wake_clocks)

    def unlock_contexts(self) -> None:
        """Give the workers' vector contexts back."""
        self._contexts.unlock(self._name)

    def _crew(self, stage: Stage) -> Sequence[SoftwareThread]:
        """Return the workers that share a stage."""
        return self.workers[: min(stage.threads, stage.jobs)]

    def _begin(self, name: str, stage: Stage, timing: NodeTiming) -> _Flow:
        """Start the prefetch of a stage."""
        env, workers = self._env, self._crew(stage)
        fetches = any(piece.read_bytes for piece in stage.slices)
        flow = _Flow(
            time=timing.stage(len(workers)),
            workers=workers,
            arrived=[Moment(env) if fetches else None for _ in stage.slices],
            done=[Moment(env) for _ in stage.slices],
            unfinished=[len(piece.items) for piece in stage.slices],
            queue=deque((k, item) for k, piece in enumerate(stage.slices) for item in piece.items),
        )
        if fetches:
            Activity(env, self._fetch(name, stage, flow))
        return flow

    def _run_stage(self, name: str, stage: Stage, flow: _Flow) -> Process:
        env, time, workers = self._env, flow.time, flow.workers
        activities = [Activity(env, self._work(name, worker, flow)) for worker in workers]
        if any(piece.write_bytes for piece in stage.slices):
            activities.append(Activity(env, self._write_back(name, stage, flow)))
        end_times = []
        for activity in activities:
            end_times.append((yield activity))
        idle_since = end_times[: len(workers)]
        time.idle_ps += sum(max(idle_since) - end for end in idle_since)
        time.waiting_ps += (env.now - max(idle_since)) * len(workers)

    def _work(self, name: str, thread: SoftwareThread, flow: _Flow) -> Process:
        """Take jobs until the queue is empty; return the time at which the worker becomes idle."""
        env = self._env
        while flow.queue:
            number, item = flow.queue.popleft()
            start = env.now
            arrived = flow.arrived[number]
            if arrived is not None and not arrived.processed:
                yield arrived
            flow.time.waiting_ps += env.now - start
            start = env.now
            rows = self._ddr.read(item.read_bytes) if item.read_bytes else None
            use = self._core.run(thread, item, self._rule.fast_path_packets)
            yield use
            flow.time.ran(env.now - start, self._core.issue_ps(use.demand), use.still_ps)
            self._record(thread.name, name, start)
            if rows is not None:
                yield from self._wait_for_rows(rows, item.read_bytes, start, flow)
            if item.missing_bytes:
                yield from self._wait_for_lines(item.missing_bytes, flow)
            flow.unfinished[number] -= 1
            if not flow.unfinished[number]:
                flow.done[number].happen()
        return env.now

    def _wait_for_rows(self, rows: simpy.Event, size: int, start: int, flow: _Flow) -> Process:
        """Let a worker wait for the rows of its job, asked for at `start`."""
        computed = self._env.now
        if not rows.processed:
            yield rows
        flow.time.waiting_ps += self._env.now - computed
        flow.time.moved(self._env.now - start, self._ddr.alone_ps(size))

    def _wait_for_lines(self, size: int, flow: _Flow) -> Process:
        """Let a worker load `size` bytes from DDR, each line when the one before has arrived."""
        start = self._env.now
        yield self._ddr.read(size, self._ddr.rule.line_bytes_per_second)
        took = self._env.now - start
        flow.time.waiting_ps += took
        flow.time.moved(took, took)

    def _fetch(self, name: str, stage: Stage, flow: _Flow) -> Process:
        """Prefetch the slices in order, each when its buffer is free."""
        streams = self._ddr.rule.rate_of(stage.streams)
        rate = self._rule.copy_bytes_per_s if stage.copied else streams
        for number, piece in enumerate(stage.slices):
            if number >= stage.buffers:
                freed = flow.done[number - stage.buffers]
                if not freed.processed:
                    yield freed
            arrived = flow.arrived[number]
            assert arrived is not None
            if not piece.read_bytes:
                arrived.happen()
                continue
            start = self._env.now
            yield self._ddr.read(piece.read_bytes, rate)
            self._record(f"{self._name} prefetch", name, start)
            took = self._env.now - start + self._ddr.latency_ps
            alone_ps = self._ddr.alone_ps(piece.read_bytes, rate)
            flow.time.moved(took, self._ddr.latency_ps + alone_ps)
            # The last lines are still on their way while the next slice is being asked for.
            last_line = self._env.timeout(self._ddr.latency_ps)
            last_line.callbacks.append(arrived.happen)

    def _write_back(self, name: str, stage: Stage, flow: _Flow) -> Process:
        """Write the results of the slices to DDR, in order."""
        for number, piece in enumerate(stage.slices):
            if not flow.done[number].processed:
                yield flow.done[number]
            if piece.write_bytes:
                start = self._env.now
                yield self._ddr.write(piece.write_bytes, self._ddr.rule.rate_of(stage.streams))
                self._record(f"{self._name} write-back", name, start)
                took = self._env.now - start
                flow.time.moved(took, self._ddr.alone_ps(piece.write_bytes))

    def _record(self, track: str, name: str, start: int) -> None:
        if self._env.now > start:
            self._spans.append(Span(track, name, start, self._env.now))
