"""The fluid core against a reference that issues packet by packet."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.qurt_threads import (
    INTERRUPT_PRIORITY,
    HardwareThreads,
    IssueRule,
    Q6Core,
    SharedUnit,
    SoftwareThread,
    VectorContexts,
    contended,
)
from hexsim.simulation.phone import Phone
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


def threads(*priorities: int) -> list[SoftwareThread]:
    return [SoftwareThread(f"t{k}", priority) for k, priority in enumerate(priorities)]


def test_threads_spread_over_clusters_before_they_pair() -> None:
    hardware = HardwareThreads(4, 2)
    first, two, three = threads(1, 2, 3)
    hardware.place([first, two])
    assert {hardware.clusters[k] for k, t in enumerate(hardware.running) if t} == {0, 1}
    assert all(hardware.is_alone(k) for k, t in enumerate(hardware.running) if t)
    hardware.place([first, two, three])
    assert sum(hardware.is_alone(k) for k, t in enumerate(hardware.running) if t) == 1


def test_the_least_urgent_makes_room_and_the_others_stay() -> None:
    hardware = HardwareThreads(2, 1)
    low, high, urgent = threads(9, 5, 0)
    hardware.place([low, high])
    before = list(hardware.running)
    assert hardware.place([low, high, urgent]) == [before.index(low)]
    assert hardware.running[before.index(high)] is high
    assert hardware.running[before.index(low)] is urgent


def test_among_equals_whoever_was_ready_first_runs() -> None:
    hardware = HardwareThreads(1, 1)
    first, second = threads(5, 5)
    hardware.place([first, second])
    assert hardware.running == [first]


def test_a_thread_returns_to_its_registers_without_a_switch() -> None:
    hardware = HardwareThreads(4, 2)
    worker, other = threads(5, 6)
    assert hardware.place([worker]) == []
    place = hardware.running.index(worker)
    hardware.place([])
    assert hardware.place([other]) == [], "an unused hardware thread is idle longest"
    assert hardware.running.index(other) != place
    assert hardware.place([other, worker]) == []
    assert hardware.running[place] is worker


def test_a_thread_without_a_place_of_its_own_takes_what_has_been_idle_longest() -> None:
    hardware = HardwareThreads(2, 1)
    first, second, third = threads(5, 5, 5)
    hardware.place([first, second])
    hardware.place([second])
    hardware.place([])
    assert hardware.place([third]) == [0]
    assert hardware.running == [third, None]


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=8),
    st.lists(st.sets(st.integers(0, 7)), max_size=12),
    st.sampled_from([(4, 2), (3, 1), (6, 1), (1, 1)]),
)
def test_the_most_urgent_always_run_and_nobody_moves_without_need(
    priorities: list[int], steps: list[set[int]], shape: tuple[int, int]
) -> None:
    hardware = HardwareThreads(*shape)
    everybody = threads(*priorities)
    for step in steps:
        ready = [thread for k, thread in enumerate(everybody) if k in step]
        before = list(hardware.running)
        switching = hardware.place(ready)
        running = [thread for thread in hardware.running if thread is not None]
        assert len(running) == len(set(running)) == min(len(ready), shape[0])
        waiting = [thread.priority for thread in ready if thread not in running]
        assert all(thread.priority <= min(waiting, default=99) for thread in running)
        stayed = [k for k, thread in enumerate(before) if thread and thread in running]
        assert all(hardware.running[k] is before[k] for k in stayed)
        assert not set(switching) & set(stayed)


RATES = st.lists(st.floats(0.1, 10), min_size=1, max_size=6)


def test_without_a_scarce_unit_the_rates_stay() -> None:
    assert contended([1, 2], [SharedUnit(10, [1, 4])]) == [1, 2]


def test_one_unit_is_shared_max_min_fairly() -> None:
    """8 units; the first wants 1 and gets it, the other two get 3.5 each."""
    assert contended([1, 2, 2], [SharedUnit(8, [1, 2, 4])]) == [1, 3.5 / 2, 3.5 / 4]


def test_who_needs_none_of_a_scarce_unit_is_not_held_up() -> None:
    assert contended([1, 5, 5], [SharedUnit(4, [0, 1, 1])]) == [1, 2, 2]


def test_what_one_unit_holds_up_leaves_the_other_one_to_others() -> None:
    """The second unit holds user 0 to 0.5, so user 1 gets the rest of the first one."""
    first, second = SharedUnit(2, [1, 1]), SharedUnit(0.5, [1, 0])
    assert contended([2, 2], [first, second]) == pytest.approx([0.5, 1.5])


@given(st.data(), RATES)
def test_no_unit_is_overdrawn_and_nobody_waits_without_a_full_one(
    data: st.DataObject, rates: list[float]
) -> None:
    needs = st.lists(
        st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(rates), max_size=len(rates)
    )
    units = [
        SharedUnit(capacity, data.draw(needs))
        for capacity in data.draw(st.lists(st.floats(0.5, 20), min_size=1, max_size=3))
    ]
    shares = contended(rates, units)
    used = [sum(r * n for r, n in zip(shares, unit.needs, strict=True)) for unit in units]
    for unit, amount in zip(units, used, strict=True):
        assert amount <= unit.capacity * (1 + 1e-6)
    for user, (rate, wish) in enumerate(zip(shares, rates, strict=True)):
        assert 0 < rate <= wish
        holds_up = any(
            unit.needs[user] and amount >= unit.capacity * (1 - 1e-6)
            for unit, amount in zip(units, used, strict=True)
        )
        assert rate == wish or holds_up


DYNAMIC = IssueRule(
    clock_hz=600e6,
    hardware_threads=3,
    clusters=1,
    multithreading="dynamic",
    clocks_per_packet=2,
    lone_scalar_speedup=1.25,
    scalar_fed_stall=1.0,
    l2_bytes_per_clock=128,
    scalar_multipliers=2,
    scalar_multipliers_shared=True,
    switch_clocks=0,
)


def test_600_mhz_of_a_barrel_are_three_threads_of_200() -> None:
    barrel = replace(DYNAMIC, multithreading="barrel")
    assert barrel.clock_hz / barrel.slot_clocks == 200e6
    assert barrel.lone_speedup == 1


def test_a_dynamic_core_follows_its_own_rule_however_many_threads_it_has() -> None:
    assert (DYNAMIC.slot_clocks, DYNAMIC.lone_speedup) == (2, 1.25)


@pytest.mark.parametrize("threads", [3, 6])
def test_a_chip_file_chooses_the_barrel(tmp_path: Path, threads: int) -> None:
    text = (Path(chips.__file__).parent / "sd835.toml").read_text()
    count = f'{{ value = {threads}, unit = "1", source = "a book", confidence = "documented" }}'
    lines = f'[dsp]\nmultithreading = "barrel"\nhardware_threads = {count}\n'
    (tmp_path / "old.toml").write_text(text.replace("[dsp]\n", lines, 1))
    stack = stacks.load("snpe-1.23")
    core = Phone(chips.load(tmp_path / "old.toml"), stack, [stack.profile()]).dsp.core
    assert core.packets_in(10**12) == pytest.approx(core.rule.clock_hz / threads)
    assert chips.load("sd835").dsp.multithreading == "dynamic"


def contexts(count: int = 2) -> VectorContexts:
    return VectorContexts(Environment(), count)


def test_a_free_context_is_locked_at_once() -> None:
    hvx = contexts()
    assert hvx.lock("a", 2, 10).triggered
    assert not hvx.lock("b", 1, 0).triggered


def test_the_most_urgent_comes_first_and_among_equals_the_first() -> None:
    hvx = contexts(1)
    hvx.lock("first", 1, 5)
    late, urgent, equal = hvx.lock("late", 1, 7), hvx.lock("urgent", 1, 3), hvx.lock("equal", 1, 7)
    order = []
    for holder in ("first", "urgent", "late"):
        hvx.unlock(holder)
        order.append([request.triggered for request in (late, urgent, equal)])
    assert order == [[False, True, False], [True, True, False], [True, True, True]]


def test_nobody_overtakes_a_more_urgent_request_for_more() -> None:
    hvx = contexts(2)
    hvx.lock("one", 1, 5)
    assert hvx.try_lock("other", 1)
    both, single = hvx.lock("both", 2, 3), hvx.lock("late", 1, 4)
    assert (both.triggered, single.triggered) == (False, False)
    hvx.unlock("one")
    assert (both.triggered, single.triggered) == (False, False)
    hvx.unlock("other")
    assert (both.triggered, single.triggered) == (True, False)


def test_a_try_lock_takes_what_is_free_or_nothing() -> None:
    hvx = contexts(2)
    assert hvx.try_lock("a", 1)
    assert not hvx.try_lock("b", 2)
    assert hvx.try_lock("b", 1)
    assert not hvx.try_lock("c", 1)
    hvx.unlock("a")
    hvx.unlock("b")
    assert hvx.try_lock("c", 2)


def test_the_holders_of_the_contexts_are_reported_at_every_change() -> None:
    hvx, heard = contexts(3), []
    hvx.on_change = lambda holders: heard.append(list(holders))
    hvx.lock("a", 1, 0)
    hvx.lock("b", 2, 0)
    hvx.lock("c", 1, 0)
    hvx.unlock("a")
    assert heard == [["a", None, None], ["a", "b", "b"], [None, "b", "b"], ["c", "b", "b"]]
