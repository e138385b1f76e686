"""The fluid core against a reference that issues packet by packet."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from hexsim.qurt_threads import (
    INTERRUPT_PRIORITY,
    IssueRule,
    Q6Core,
    SoftwareThread,
    VectorContexts,
)
from hexsim.timing.simtime import Environment
from tests.stepped_core import REFUSED, Job, SteppedCore, barrel_of
from tests.thorough import THOROUGH, examples

RULE = IssueRule(
    clock_hz=1e9,
    hardware_threads=4,
    clusters=2,
    multithreading="dynamic",
    clocks_per_packet=2,
    lone_scalar_speedup=1.25,
    scalar_fed_stall=1.5,
    l2_bytes_per_clock=128,
    scalar_multipliers=2,
    scalar_multipliers_shared=True,
    switch_clocks=0,
)
OWN_MULTIPLIERS = replace(RULE, scalar_multipliers=4, scalar_multipliers_shared=False)
CLOCK_PS = 1000


def fluid_ends(rule: IssueRule, jobs: list[Job], contexts: int = 4) -> list[float]:
    env = Environment()
    core = Q6Core(env, rule)
    hvx = VectorContexts(env, contexts)
    ends = [0.0] * len(jobs)

    def run(index: int, job: Job) -> Iterator[simpy.Event]:
        yield env.timeout(job.at_clock * CLOCK_PS)
        if job.lock == "wait":
            yield hvx.lock(f"{index}", 1, job.priority)
        elif job.lock == "try" and not hvx.try_lock(f"{index}", 1):
            ends[index] = REFUSED
            return
        yield core.run(SoftwareThread(str(index), job.priority), job.item)
        ends[index] = env.now / CLOCK_PS
        if job.lock != "no":
            hvx.unlock(f"{index}")

    for index, job in sorted(enumerate(jobs), key=lambda numbered: numbered[1].priority):
        env.process(run(index, job))
    env.run()
    return ends


def deviation(rule: IssueRule, jobs: list[Job], contexts: int = 4) -> float:
    """The largest difference between fluid and packets, relative to a job's stay."""
    fluid = fluid_ends(rule, jobs, contexts)
    stepped = SteppedCore(rule, jobs, contexts).ends()
    assert [end == REFUSED for end in fluid] == [end == REFUSED for end in stepped]
    return max(
        abs(ours - reference) / (reference - job.at_clock)
        for job, ours, reference in zip(jobs, fluid, stepped, strict=True)
    )


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


@pytest.mark.parametrize("threads", [3, 6])
def test_a_barrel_core_gives_each_thread_its_turn(threads: int) -> None:
    """600 MHz are 3 x 200: each thread issues 200 k packets in 1 ms, alone or not."""
    barrel = replace(barrel_of(threads, RULE), clock_hz=600e6)
    packets = 600_000 // threads
    for jobs in ([Job(0, packets, vector=False)], [Job(0, packets, vector=False)] * threads):
        ends = fluid_ends(barrel, jobs)
        assert [end * CLOCK_PS for end in ends] == pytest.approx([1e9] * len(jobs))


def test_the_highest_priorities_hold_the_hardware_threads() -> None:
    """Five threads on four: the least urgent starts when another ends."""
    jobs = [Job(0, 100, priority=p) for p in (1, 2, 3, 4, 5)]
    assert fluid_ends(RULE, jobs) == [200, 200, 200, 200, 400]


INTERRUPTED = [
    *(Job(0, 100, priority=p) for p in (1, 2, 3, 4)),
    Job(50, 20, priority=INTERRUPT_PRIORITY),
]


def test_an_interrupt_displaces_the_least_urgent_thread() -> None:
    assert fluid_ends(RULE, INTERRUPTED) == [200, 200, 200, 240, 90]


def test_displacing_costs_a_switch_there_and_one_back() -> None:
    ends = fluid_ends(replace(RULE, switch_clocks=30), INTERRUPTED)
    assert ends == [200, 200, 200, 240 + 30 + 30, 90 + 30]


def test_a_thread_that_finds_its_registers_pays_nothing() -> None:
    """Two workers take job after job; nobody else needed their hardware threads."""
    env = Environment()
    core = Q6Core(env, replace(RULE, switch_clocks=30))

    def work(thread: SoftwareThread) -> Iterator[simpy.Event]:
        for _ in range(5):
            yield core.run(thread, Job(0, 100).item)

    for number in range(2):
        env.process(work(SoftwareThread(f"worker {number}", 5)))
    env.run()
    assert env.now == 5 * 200 * CLOCK_PS


def test_a_job_that_follows_at_once_keeps_its_place_before_a_less_urgent_thread() -> None:
    env = Environment()
    core = Q6Core(env, replace(RULE, hardware_threads=1, clusters=1, switch_clocks=30))
    ends = {}

    def work(thread: SoftwareThread, jobs: int) -> Iterator[simpy.Event]:
        for _ in range(jobs):
            yield core.run(thread, Job(0, 100).item)
        ends[thread.name] = env.now / CLOCK_PS

    env.process(work(SoftwareThread("urgent", 1), 3))
    env.process(work(SoftwareThread("patient", 2), 1))
    env.run()
    assert ends == {"urgent": 600, "patient": 600 + 30 + 200}


def test_a_use_tells_how_long_it_had_no_hardware_thread() -> None:
    env = Environment()
    core = Q6Core(env, replace(RULE, hardware_threads=1, clusters=1))
    core.run(SoftwareThread("urgent", 1), Job(0, 100).item)
    patient = core.run(SoftwareThread("patient", 2), Job(0, 100).item)
    env.run()
    assert patient.still_ps == 200 * CLOCK_PS


def test_the_packets_that_fetch_an_item_come_on_top() -> None:
    env = Environment()
    core = Q6Core(env, RULE)
    core.run(SoftwareThread("worker", 1), Job(0, 100).item, lead_packets=15)
    env.run()
    assert env.now == 230 * CLOCK_PS


def test_the_l2_port_limits_threads_that_ask_for_more_than_it_moves() -> None:
    """Four threads at 128 bytes per packet want 256 bytes per clock of 128."""
    assert fluid_ends(RULE, [Job(0, 1000, l2_per_packet=128)] * 4) == [4000] * 4


MULTIPLYING = Job(0, 1000, vector=False, multiplies_per_packet=2)


def test_clusters_share_two_scalar_multipliers_or_have_their_own() -> None:
    """Four threads want four multiplies per clock."""
    assert fluid_ends(RULE, [MULTIPLYING] * 4) == [4000] * 4
    assert fluid_ends(OWN_MULTIPLIERS, [MULTIPLYING] * 4) == [2000] * 4


def vector_job(**values: object) -> Job:
    return Job(**{"at_clock": 0, "packets": 1500, "lock": "wait", **values})  # type: ignore[arg-type]


MIXES: dict[str, tuple[IssueRule, int, list[Job]]] = {
    "five HVX threads for two contexts": (
        RULE,
        2,
        [vector_job(at_clock=100 * p, priority=5 - p) for p in range(5)],
    ),
    "try-locks among waiting ones": (
        RULE,
        2,
        [
            *(vector_job(priority=p) for p in (5, 6, 7)),
            vector_job(at_clock=200, priority=1, lock="try"),
            vector_job(at_clock=7000, priority=9, lock="try"),
        ],
    ),
    "four streams on the L2 port": (
        RULE,
        4,
        [vector_job(priority=p, l2_per_packet=64 * p) for p in (1, 2, 3, 4)],
    ),
    "L2 port and multipliers, some need both": (
        RULE,
        4,
        [
            Job(0, 3000, 1, False, l2_per_packet=128, multiplies_per_packet=2),
            Job(0, 2000, 2, False, multiplies_per_packet=2),
            Job(0, 2500, 3, False, multiplies_per_packet=1, l2_per_packet=32),
            vector_job(priority=4, packets=4000, l2_per_packet=192),
        ],
    ),
    "own multipliers, an urgent thread moves others about": (
        OWN_MULTIPLIERS,
        4,
        [
            *(Job(0, 2000, p, False, multiplies_per_packet=2) for p in (2, 3, 4, 5)),
            Job(1000, 1000, 1, False, multiplies_per_packet=2),
        ],
    ),
    "eight threads preempt each other on four": (
        replace(RULE, switch_clocks=40),
        4,
        [Job(300 * p, 1200, 9 - p, vector=bool(p % 2)) for p in range(8)],
    ),
    "a stream of interrupts": (
        replace(RULE, switch_clocks=20),
        4,
        [
            *(vector_job(priority=p, packets=3000, l2_per_packet=64) for p in (4, 5, 6, 7)),
            *(Job(500 * k, 100, INTERRUPT_PRIORITY, False) for k in range(8)),
        ],
    ),
    "everything on a barrel of six": (
        replace(barrel_of(6, RULE), switch_clocks=20),
        2,
        [
            *(vector_job(at_clock=50 * p, priority=9 - p, l2_per_packet=192) for p in range(4)),
            *(Job(0, 1000, p, False, multiplies_per_packet=2) for p in range(10, 15)),
        ],
    ),
}


@pytest.mark.parametrize("mix", MIXES)
def test_fluid_agrees_with_packets_where_threads_really_contend(mix: str) -> None:
    rule, contexts, jobs = MIXES[mix]
    uncontended = [fluid_ends(rule, [replace(job, at_clock=0)])[0] for job in jobs]
    together = fluid_ends(rule, jobs, contexts)
    stretched = [
        end - job.at_clock > 1.05 * alone
        for end, job, alone in zip(together, jobs, uncontended, strict=True)
    ]
    assert any(stretched), "a mix in which nobody waits shows nothing"
    assert deviation(rule, jobs, contexts) < 0.02


DRAWN_JOBS = st.lists(
    st.builds(
        Job,
        at_clock=st.integers(0, 1000),
        packets=st.integers(1000, 2000),
        priority=st.integers(0, 12),
        vector=st.booleans(),
        scalar_fed=st.booleans(),
        l2_per_packet=st.sampled_from([0, 64, 128, 192]),
        multiplies_per_packet=st.sampled_from([0, 0, 1, 2]),
        lock=st.sampled_from(["no", "wait"]),
    ),
    min_size=3,
    max_size=8,
    unique_by=lambda job: job.priority,
)
DRAWN_RULES = st.sampled_from(
    [
        RULE,
        OWN_MULTIPLIERS,
        replace(RULE, switch_clocks=50),
        replace(barrel_of(3, RULE), switch_clocks=50),
    ]
)


@examples(25)
@given(DRAWN_RULES, DRAWN_JOBS, st.integers(1, 4))
def test_fluid_agrees_with_packets_whatever_is_drawn(
    rule: IssueRule, jobs: list[Job], contexts: int
) -> None:
    """Of 1500 mixes three were off by more than 2 %, the worst by 6.3 %.

    In those the second level cache and shared multipliers hold several threads at once, and the
    fluid core gives those of low priority less or more of what is left than packets do.
    """
    assert deviation(rule, jobs, contexts) < 0.1


def test_fluid_agrees_with_nearly_all_mixes_within_two_percent() -> None:
    rng = random.Random(1)
    off = [
        deviation(
            rng.choice([RULE, OWN_MULTIPLIERS, replace(RULE, switch_clocks=50)]),
            [_drawn(rng, priority) for priority in rng.sample(range(13), rng.randint(3, 8))],
            rng.randint(1, 4),
        )
        for _ in range(25 if THOROUGH else 10)
    ]
    assert sorted(off)[-2] < 0.02


def _drawn(rng: random.Random, priority: int) -> Job:
    return Job(
        at_clock=rng.randint(0, 1000),
        packets=rng.randint(1000, 2000),
        priority=priority,
        vector=rng.random() < 0.5,
        scalar_fed=rng.random() < 0.5,
        l2_per_packet=rng.choice([0, 64, 128, 192]),
        multiplies_per_packet=rng.choice([0, 0, 1, 2]),
        lock=rng.choice(["no", "wait"]),
    )
