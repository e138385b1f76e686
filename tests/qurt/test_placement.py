from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hexsim.qurt.placement import HardwareThreads
from hexsim.qurt.software import SoftwareThread


def threads(*priorities: int) -> list[SoftwareThread]:
    return [SoftwareThread(f"t{k}", priority) for k, priority in enumerate(priorities)]


def test_threads_spread_over_clusters_before_they_pair() -> None:
    hardware = HardwareThreads(4, 2)
    first, two, three = threads(1, 2, 3)
    hardware.place([first, two])
    assert {hardware.cluster(k) for k, t in enumerate(hardware.running) if t} == {0, 1}
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
