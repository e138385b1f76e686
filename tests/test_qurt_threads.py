"""The fluid issue rule against a reference that issues packet by packet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from hexsim.qurt_threads import IssueRule, Q6Core, SoftwareThread
from hexsim.work import WorkItem

RULE = IssueRule(
    clock_hz=1e9,
    hardware_threads=4,
    clusters=2,
    clocks_per_packet=2,
    lone_scalar_speedup=1.25,
    scalar_fed_stall=1.5,
    l2_bytes_per_clock=128,
)
CLOCK_PS = 1000


@dataclass(frozen=True)
class Job:
    at_clock: int
    packets: int
    priority: int = 10
    vector: bool = True
    scalar_fed: bool = False
    l2_per_packet: int = 0
    stalls: int = 0

    @property
    def item(self) -> WorkItem:
        fed = self.packets if self.scalar_fed else 0
        l2_bytes = self.packets * self.l2_per_packet
        return WorkItem(self.packets, self.stalls, fed, l2_bytes, vector=self.vector)


def fluid_ends(rule: IssueRule, jobs: list[Job]) -> list[float]:
    env = simpy.Environment()
    core = Q6Core(env, rule)
    ends = [0.0] * len(jobs)

    def run(index: int, job: Job):
        yield env.timeout(job.at_clock * CLOCK_PS)
        yield core.run(SoftwareThread(str(index), job.priority), job.item)
        ends[index] = env.now / CLOCK_PS

    for index, job in enumerate(jobs):
        env.process(run(index, job))
    env.run()
    return ends


def stepped_ends(rule: IssueRule, jobs: list[Job]) -> list[int]:
    """Clock by clock: running threads earn the right to issue; the L2 port serves the neediest."""
    left = [job.packets for job in jobs]
    credit = [0.0] * len(jobs)
    served = [0.0] * len(jobs)
    port = 0.0
    ends = [0] * len(jobs)
    clock = 0
    while any(left):
        ready = [i for i, job in enumerate(jobs) if job.at_clock <= clock and left[i]]
        running = sorted(ready, key=lambda i: jobs[i].priority)[: rule.hardware_threads]
        clock += 1
        port = min(port + rule.l2_bytes_per_clock, 2 * rule.l2_bytes_per_clock)
        clusters = [place % rule.clusters for place in range(len(running))]
        served = [size * 0.98 for size in served]  # fair over the last clocks, not for ever
        for place, i in enumerate(running):
            lone = clusters.count(clusters[place]) == 1 and not jobs[i].vector
            stalls = rule.scalar_fed_stall if jobs[i].scalar_fed else 1.0
            speed = (rule.lone_scalar_speedup if lone else 1.0) / rule.clocks_per_packet / stalls
            credit[i] = min(credit[i] + speed, 2.0)
        while True:
            able = [i for i in running if left[i] and credit[i] >= 1]
            free = [i for i in able if not jobs[i].l2_per_packet]
            if not able:
                break
            i = free[0] if free else min(able, key=lambda i: served[i])
            if jobs[i].l2_per_packet > port:
                break  # whoever has had least of the port is next, even if its packet is larger
            credit[i] -= 1
            port -= jobs[i].l2_per_packet
            served[i] += jobs[i].l2_per_packet
            left[i] -= 1
            if not left[i]:
                ends[i] = clock
    return ends


def test_a_vector_thread_issues_one_packet_per_two_clocks() -> None:
    assert fluid_ends(RULE, [Job(0, 1000)]) == [2000]
    assert fluid_ends(RULE, [Job(0, 1000)] * 4) == [2000] * 4


def test_only_a_lone_scalar_thread_is_faster() -> None:
    assert fluid_ends(RULE, [Job(0, 1000, vector=False)]) == [1600]
    assert fluid_ends(RULE, [Job(0, 1000, vector=False)] * 2) == [1600] * 2
    assert fluid_ends(RULE, [Job(0, 1000, vector=False)] * 4) == [2000] * 4


def test_stalls_stretch_only_packets_that_scalar_loads_feed() -> None:
    assert fluid_ends(RULE, [Job(0, 1000, scalar_fed=True)]) == [3000]


def test_empty_slots_of_a_schedule_take_their_time_and_are_not_stretched() -> None:
    assert fluid_ends(RULE, [Job(0, 1000, stalls=100)]) == [2200]
    assert fluid_ends(RULE, [Job(0, 1000, stalls=100, scalar_fed=True)]) == [3200]


def test_a_barrel_core_gives_each_of_three_threads_a_third_of_600_mhz() -> None:
    barrel = replace(
        RULE,
        clock_hz=600e6,
        hardware_threads=3,
        clusters=1,
        clocks_per_packet=3,
        lone_scalar_speedup=1.0,
    )
    ends = fluid_ends(barrel, [Job(0, 200_000, vector=False)] * 3)
    assert [end * CLOCK_PS for end in ends] == pytest.approx([1e9] * 3)  # 200 k packets in 1 ms


def test_the_highest_priorities_hold_the_hardware_threads() -> None:
    """Five threads on four: the least urgent starts when another ends."""
    jobs = [Job(0, 100, priority=p) for p in (1, 2, 3, 4, 5)]
    assert fluid_ends(RULE, jobs) == [200, 200, 200, 200, 400]


def test_an_interrupt_displaces_the_least_urgent_thread() -> None:
    jobs = [Job(0, 100, priority=p) for p in (1, 2, 3, 4)] + [Job(50, 20, priority=0)]
    assert fluid_ends(RULE, jobs) == [200, 200, 200, 240, 90]


def test_the_l2_port_limits_threads_that_ask_for_more_than_it_moves() -> None:
    """Four threads at 128 bytes per packet want 256 bytes per clock of 128."""
    assert fluid_ends(RULE, [Job(0, 1000, l2_per_packet=128)] * 4) == [4000] * 4


MIXES = st.lists(
    st.builds(
        Job,
        at_clock=st.integers(0, 1000),
        packets=st.integers(1000, 2000),
        priority=st.integers(0, 8),
        vector=st.booleans(),
        scalar_fed=st.booleans(),
        l2_per_packet=st.sampled_from([0, 64, 128, 192]),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda job: job.priority,
)


@settings(max_examples=25, deadline=None)
@given(MIXES)
def test_fluid_agrees_with_packets_within_two_percent(jobs: list[Job]) -> None:
    fluid, stepped = fluid_ends(RULE, jobs), stepped_ends(RULE, jobs)
    for job, ours, reference in zip(jobs, fluid, stepped, strict=True):
        assert ours - job.at_clock == pytest.approx(reference - job.at_clock, rel=0.02)
