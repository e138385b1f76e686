"""A core that issues packet by packet, clock by clock: slow and obvious, to check the fluid one.

Nothing here is shared with `hexsim.qurt_threads`: hardware threads, their registers and pauses,
context locks, and two arbiters that a packet passes one after the other, multipliers before L2.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from hexsim.qurt_threads import IssueRule
from hexsim.timing.work import WorkItem

REFUSED = -1


@dataclass(frozen=True)
class Job:
    """One thread with one piece of work; `per_packet` amounts are the same for all packets."""

    at_clock: int
    packets: int
    priority: int = 10
    vector: bool = True
    scalar_fed: bool = False
    l2_per_packet: int = 0
    multiplies_per_packet: int = 0
    stalls: int = 0
    lock: Literal["no", "wait", "try"] = "no"

    @property
    def item(self) -> WorkItem:
        return WorkItem(
            self.packets,
            self.stalls,
            scalar_fed=self.packets if self.scalar_fed else 0,
            l2_bytes=self.packets * self.l2_per_packet,
            vector=self.vector,
            scalar_multiplies=self.packets * self.multiplies_per_packet,
        )


@dataclass
class _Thread:
    number: int
    job: Job
    left: int
    ready_since: int | None = None
    hardware: int | None = None
    credit: float = 0.0
    multiplied: bool = False
    end: int | None = None


@dataclass
class _Hardware:
    thread: _Thread | None = None
    registers: _Thread | None = None
    pause: float = 0.0
    idle_since: int = -1


class _Arbiter:
    """Start-time fair queueing: serves the packet whose turn began first.

    A packet's turn begins when the one before it of the same thread has had its share, but not
    before the turn of the packet that was served when it came.
    """

    def __init__(self, per_clock: float) -> None:
        self.per_clock = per_clock
        self.left = 0.0
        self.turn = 0.0
        self.begins: dict[int, float] = {}
        self.shared: dict[int, float] = {}
        self.largest = 0

    def tick(self) -> None:
        self.left = min(self.left, self.largest) + self.per_clock

    def serve(self, asking: dict[int, int]) -> int | None:
        """Serve one of the threads that ask for so many units, if the first one can be served."""
        for number, size in asking.items():
            self.begins.setdefault(number, max(self.turn, self.shared.get(number, 0.0)))
            self.largest = max(self.largest, size)
        if not asking:
            return None
        first = min(asking, key=lambda number: self.begins[number])
        if asking[first] > self.left:
            return None
        self.left -= asking[first]
        self.turn = self.begins.pop(first)
        self.shared[first] = self.turn + asking[first]
        return first


class SteppedCore:
    def __init__(self, rule: IssueRule, jobs: list[Job], contexts: int) -> None:
        self.rule = rule
        self.threads = [_Thread(number, job, job.packets) for number, job in enumerate(jobs)]
        self.hardware = [_Hardware() for _ in range(rule.hardware_threads)]
        self.contexts = contexts
        self.pools = 1 if rule.scalar_multipliers_shared else rule.clusters
        self.port = _Arbiter(rule.l2_bytes_per_clock)
        self.multipliers = [
            _Arbiter(rule.scalar_multipliers / self.pools) for _ in range(self.pools)
        ]
        self.clock = 0

    def ends(self) -> list[int]:
        """The clock at which each job has issued its last packet; REFUSED by a try-lock."""
        while any(thread.end is None for thread in self.threads):
            self._become_ready()
            self._place()
            self._earn()
            while self._multiply() or self._issue():
                pass
            self.clock += 1
            self._finish()
        return [thread.end if thread.end is not None else 0 for thread in self.threads]

    def _become_ready(self) -> None:
        """Threads that arrived lock their contexts, the most urgent first."""
        for thread in sorted(self.threads, key=lambda t: (t.job.priority, t.job.at_clock)):
            if thread.end is None and thread.ready_since is None:
                if thread.job.at_clock > self.clock:
                    continue
                if thread.job.lock != "no":
                    if not self.contexts and thread.job.lock == "try":
                        thread.end = REFUSED
                    if not self.contexts:
                        continue
                    self.contexts -= 1
                thread.ready_since = self.clock

    def _place(self) -> None:
        ready = [t for t in self.threads if t.ready_since is not None and t.end is None]
        ready.sort(key=lambda t: (t.job.priority, t.ready_since))
        chosen = ready[: len(self.hardware)]
        for hardware in self.hardware:
            if hardware.thread not in chosen:
                if hardware.thread is not None:
                    hardware.thread.hardware = None
                    hardware.idle_since = self.clock
                hardware.thread = None
        for thread in chosen:
            if thread.hardware is None:
                place = self._place_for(thread)
                hardware = self.hardware[place]
                if hardware.registers is not None and hardware.registers is not thread:
                    hardware.pause = self.rule.switch_clocks
                hardware.thread = hardware.registers = thread
                thread.hardware = place

    def _place_for(self, thread: _Thread) -> int:
        """Where its registers are, else the emptiest cluster, there the longest idle one."""
        free = [k for k, hardware in enumerate(self.hardware) if hardware.thread is None]
        for k in free:
            if self.hardware[k].registers is thread:
                return k
        fewest = min(len(self._neighbours(k)) for k in free)
        free = [k for k in free if len(self._neighbours(k)) == fewest]
        return min(free, key=lambda k: self.hardware[k].idle_since)

    def _neighbours(self, place: int) -> list[int]:
        return [
            k
            for k, hardware in enumerate(self.hardware)
            if k != place
            and k % self.rule.clusters == place % self.rule.clusters
            and hardware.thread is not None
        ]

    def _earn(self) -> None:
        """Each running thread earns a part of a packet, each shared unit its capacity."""
        rule = self.rule
        for place, hardware in enumerate(self.hardware):
            if hardware.thread is None:
                continue
            if hardware.pause > 0:
                hardware.pause -= 1
                continue
            job = hardware.thread.job
            if rule.multithreading == "barrel":
                speed = 1 / rule.hardware_threads
            elif self._neighbours(place) or job.vector:
                speed = 1 / rule.clocks_per_packet
            else:
                speed = rule.lone_scalar_speedup / rule.clocks_per_packet
            if job.scalar_fed:
                speed /= rule.scalar_fed_stall
            hardware.thread.credit = min(hardware.thread.credit + speed, 2.0)
        for arbiter in (self.port, *self.multipliers):
            arbiter.tick()

    def _able(self) -> list[_Thread]:
        return [
            hardware.thread
            for hardware in self.hardware
            if hardware.thread is not None
            and hardware.pause <= 0
            and hardware.thread.left
            and hardware.thread.credit >= 1
        ]

    def _multiply(self) -> bool:
        """Let one packet have the multipliers of its thread's pool."""
        for pool, multipliers in enumerate(self.multipliers):
            asking = {
                thread.number: thread.job.multiplies_per_packet
                for thread in self._able()
                if thread.job.multiplies_per_packet
                and not thread.multiplied
                and (thread.hardware or 0) % self.pools == pool
            }
            served = multipliers.serve(asking)
            if served is not None:
                self.threads[served].multiplied = True
                return True
        return False

    def _issue(self) -> bool:
        """Let one packet issue that has its multiplies, through the port if it moves bytes."""
        able = [
            thread
            for thread in self._able()
            if thread.multiplied or not thread.job.multiplies_per_packet
        ]
        free = [thread.number for thread in able if not thread.job.l2_per_packet]
        asking = {t.number: t.job.l2_per_packet for t in able if t.job.l2_per_packet}
        number = free[0] if free else self.port.serve(asking)
        if number is None:
            return False
        thread = self.threads[number]
        thread.credit -= 1
        thread.multiplied = False
        thread.left -= 1
        return True

    def _finish(self) -> None:
        for thread in self.threads:
            if thread.end is None and not thread.left:
                thread.end = self.clock
                if thread.hardware is not None:
                    self.hardware[thread.hardware].thread = None
                    self.hardware[thread.hardware].idle_since = self.clock
                    thread.hardware = None
                if thread.job.lock != "no":
                    self.contexts += 1


def barrel_of(threads: int, rule: IssueRule) -> IssueRule:
    """The same core as a barrel."""
    return dataclasses.replace(rule, hardware_threads=threads, clusters=1, multithreading="barrel")
