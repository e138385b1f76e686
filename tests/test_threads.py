"""Threads by default, as many as the process may use; and work that is spread over them.

Work side by side looks as if one thing were done after the other.

The reference is a loop.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim import threads
from hexsim.threads import side_by_side
from tests.imports import CHECKOUT
from tests.thorough import examples


def _container(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 4),
        ({"cpu.max": "max 100000\n"}, 4),
        ({"cpu.max": "250000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "1600000 100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "300000\n"}, 4),
        ({"cpu.max": "nonsense\n"}, 4),
    ],
)
def test_limits_of_a_container(
    files: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_CGROUP", _container(tmp_path, files))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(9), raising=False)
    assert threads.default_threads() == expected


def test_cores_that_the_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5}, raising=False)
    assert threads.default_threads() == 1


@pytest.mark.parametrize("count", [0, 1, 1000, 16_001])
def test_spread_work_is_done_once_everywhere(count: int) -> None:
    done = np.zeros(count, np.int64)

    def work(part: slice) -> None:
        done[part] += 1

    threads.spread(work, count, 1000)
    assert (done == 1).all()


def test_what_fails_on_another_core_is_raised() -> None:
    def work(part: slice) -> None:
        raise ValueError(f"from {part.start} on")

    with pytest.raises(ValueError, match="from 0 on"):
        threads.spread(work, 64, 1)


class Place:
    """An execution context that notices if two items run in it, and takes its time."""

    def __init__(self, work: Callable[[int], int], sleep_s: float = 0.0) -> None:
        self._work, self._sleep_s = work, sleep_s
        self._taken = threading.Lock()

    def __call__(self, item: int) -> int:
        assert self._taken.acquire(blocking=False), "two in one execution context"
        try:
            time.sleep(self._sleep_s * (item % 3))
            return self._work(item)
        finally:
            self._taken.release()


def outcome(results: Iterator[int], wanted: int) -> tuple[list[int], str]:
    """Results as far as they are wanted, and what ended them."""
    numbers: list[int] = []
    try:
        while len(numbers) < wanted:
            numbers.append(next(results))
    except (StopIteration, ValueError) as error:
        return numbers, repr(error)
    return numbers, "enough"


def items(count: int, broken: int | None) -> Iterator[int]:
    for at in range(count):
        if at == broken:
            raise ValueError(f"unreadable {at}")
        yield at


def context_threads() -> list[str]:
    return [
        thread.name for thread in threading.enumerate() if thread.name.startswith("hexsim-context")
    ]


@examples(120)
@given(
    count=st.integers(0, 9),
    contexts=st.integers(1, 4),
    unreadable=st.none() | st.integers(0, 9),
    failing=st.none() | st.integers(0, 9),
    wanted=st.integers(0, 10),
    sleep_s=st.sampled_from([0.0, 0.001]),
)
def test_it_equals_a_loop(
    count: int,
    contexts: int,
    unreadable: int | None,
    failing: int | None,
    wanted: int,
    sleep_s: float,
) -> None:
    def work(item: int) -> int:
        if item == failing:
            raise ValueError(f"failing {item}")
        return item * item

    expected = outcome(map(work, items(count, unreadable)), wanted)
    places = [Place(work, sleep_s) for _ in range(contexts)]
    results = side_by_side(items(count, unreadable), work, lambda: places)
    assert outcome(results, wanted) == expected
    del results
    assert not context_threads()


@pytest.mark.parametrize("contexts", [2, 3])
def test_as_many_are_read_ahead_as_there_are_contexts_and_one(contexts: int) -> None:
    read: list[int] = []

    def noted() -> Iterator[int]:
        for at in range(20):
            read.append(at)
            yield at

    results = side_by_side(noted(), abs, lambda: [abs] * contexts)
    assert not read
    for at, result in enumerate(results):
        assert result == at
        assert len(read) <= at + 1 + contexts


def test_contexts_are_not_made_for_one() -> None:
    def never() -> list[Callable[[int], int]]:
        raise AssertionError("made")

    assert list(side_by_side([4], lambda item: item + 1, never)) == [5]
    assert list(side_by_side([], abs, never)) == []


def test_they_work_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=30)

    def work(item: int) -> int:
        together.wait()
        return item

    assert list(side_by_side(range(4), work, lambda: [work] * 2)) == [0, 1, 2, 3]


def test_nobody_keeps_a_result_that_was_handed_out() -> None:
    class Result:
        pass

    alive: weakref.WeakSet[Result] = weakref.WeakSet()

    def work(_: int) -> Result:
        result = Result()
        alive.add(result)
        return result

    for _ in side_by_side(range(6), work, lambda: [work] * 2):
        time.sleep(0.01)
        gc.collect()
        assert len(alive) <= 4


def test_an_interrupt_leaves_nothing_behind() -> None:
    """In a process of its own: its main thread may be interrupted anywhere."""
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1] []\n", "")


_INTERRUPTED = """
import signal, threading, time
from hexsim.threads import side_by_side

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
both_there = threading.Barrier(2, timeout=30)  # no thread is to start when it comes
awaited = threading.Event()

def work(item):
    if item < 2:
        both_there.wait()
    elif item == 2:
        awaited.wait()
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.1)
    return item

results = side_by_side(range(100), work, lambda: [work] * 2)
found = [next(results), next(results)]
try:
    awaited.set()
    for _ in results:
        pass
    found.append("not interrupted")
except KeyboardInterrupt:
    results.close()  # should it have come just before
print(found, [one.name for one in threading.enumerate() if one.name.startswith("hexsim-context")])
"""
