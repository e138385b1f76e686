"""Background clients of the DSP, beside the networks: they release jobs and record latencies.

A job waits for the job before it. On HVX it then waits for its vector contexts, or is skipped if
the client only tries to lock them. Then its threads are woken, compute and move their bytes.
Interrupt handlers have a higher priority than every thread.

Left out: bytes that must arrive before a job can start, and clients that wait for each other.
"""

from collections.abc import Iterator

import simpy

from hexsim.datasheets.background import Client
from hexsim.errors import HexsimError
from hexsim.qurt_threads import INTERRUPT_PRIORITY, Q6Core, SoftwareThread, VectorContexts
from hexsim.timing.memory import Ddr
from hexsim.timing.picoseconds import PS_PER_US
from hexsim.timing.results import ClientTiming, Span
from hexsim.timing.simtime import Process
from hexsim.timing.work import WorkItem

_MOST_WAITING = 10_000
"""Limit of the waiting jobs of one client, far above that of any client that keeps up."""


class ClientSession:
    """One client on one DSP; its tracks are called `name`."""

    def __init__(
        self,
        core: Q6Core,
        ddr: Ddr,
        contexts: VectorContexts,
        wake_clocks: float,
        name: str,
        client: Client,
        spans: list[Span],
    ) -> None:
        if client.unit == "hvx" and client.threads > contexts.count:
            raise HexsimError(
                f"background client '{name}' needs {client.threads} vector contexts and the DSP "
                f"has {contexts.count}; give it fewer threads"
            )
        self._env = core.env
        self._core = core
        self._ddr = ddr
        self._contexts = contexts
        self._wake_packets = wake_clocks / core.rule.slot_clocks
        self._name = name
        self._client = client
        self._spans = spans
        self._turn = simpy.Resource(self._env)
        self._line = simpy.Resource(self._env)
        self._threads = [
            SoftwareThread(f"{name} {number}", client.priority) for number in range(client.threads)
        ]
        self._period_ps = round(client.period_us * PS_PER_US)
        self._latencies_ps: list[int] = []
        self._skipped = 0

    @property
    def timing(self) -> ClientTiming:
        """Latencies and skipped jobs so far."""
        deadline_us = self._client.deadline_us or self._client.period_us
        return ClientTiming(
            self._name,
            self._client.unit,
            self._period_ps,
            round(deadline_us * PS_PER_US),
            tuple(self._latencies_ps),
            self._skipped,
        )

    def run(self, stop: simpy.Event) -> Process:
        """Release jobs until `stop` has happened, then wait for those released to end."""
        env = self._env
        jobs = []
        yield stop | env.timeout(round(self._client.first_us * PS_PER_US))
        while not stop.processed:
            if len(self._turn.queue) > _MOST_WAITING:
                raise HexsimError(
                    f"background client '{self._name}' cannot keep up: {_MOST_WAITING} "
                    "of its jobs wait; give it fewer packets or a longer period"
                )
            jobs.append(env.process(self._job(env.now)))
            if self._client.interrupts > 1:
                env.process(self._later_interrupts())
            yield stop | env.timeout(self._period_ps)
        yield env.all_of(jobs)

    def _job(self, released_ps: int) -> Process:
        if self._client.interrupts:
            yield from self._interrupt()
        with self._turn.request() as turn:
            yield turn
            if self._client.unit == "scalar":
                yield from self._compute()
            else:
                count = self._client.threads
                if self._client.lock == "wait":
                    yield self._contexts.lock(self._name, count, self._client.priority)
                elif not self._contexts.try_lock(self._name, count):
                    self._skipped += 1
                    return
                yield from self._compute()
                self._contexts.unlock(self._name)
        self._latencies_ps.append(self._env.now - released_ps)

    def _compute(self) -> Process:
        start = self._env.now
        uses: list[simpy.Event] = [
            self._core.run(thread, item, self._wake_packets)
            for thread, item in zip(self._threads, self._parts(), strict=True)
        ]
        if self._client.ddr_bytes:
            uses.append(self._ddr.read(self._client.ddr_bytes))
        yield self._env.all_of(uses)
        self._spans.append(Span(self._name, self._client.name, start, self._env.now))

    def _parts(self) -> Iterator[WorkItem]:
        """Yield the job in even parts, one for each thread."""
        client = self._client
        for number in range(client.threads):

            def part(amount: int, number: int = number) -> int:
                return (number + 1) * amount // client.threads - number * amount // client.threads

            yield WorkItem(
                part(client.packets),
                l2_bytes=part(client.l2_bytes),
                vector=client.unit == "hvx",
                scalar_multiplies=part(client.scalar_multiplies),
            )

    def _later_interrupts(self) -> Process:
        """Raise the interrupts of a period after its first one."""
        for _ in range(self._client.interrupts - 1):
            yield self._env.timeout(self._period_ps // self._client.interrupts)
            self._env.process(self._interrupt())

    def _interrupt(self) -> Process:
        """Run an interrupt handler as a new thread; the interrupt is masked while it runs."""
        with self._line.request() as turn:
            yield turn
            start = self._env.now
            handler = SoftwareThread(f"{self._name} interrupt", INTERRUPT_PRIORITY)
            yield self._core.run(handler, WorkItem(self._client.interrupt_packets, vector=False))
            self._spans.append(Span(handler.name, self._client.name, start, self._env.now))
