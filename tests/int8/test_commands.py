"""Programs do every row once, in the order of their steps, with any number of threads.

They own what their steps read and write.

Helpers take part if they can; whether they do changes no value and blocks nobody.
"""

import itertools
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from hexsim.int8 import commands
from hexsim.int8.commands import KernelCommandList
from hexsim.int8.machine_code.arguments import Words
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.step import FIRST, LAST, Scratch, Step
from tests.imports import CHECKOUT


@kernel("void(int64[::1],int64,int64,int64)")
def _double_and_add(numbers, value, first, last):
    for i in range(first, last):
        numbers[i] = 2 * numbers[i] + value


@kernel("void(int64[::1],int64[::1],int64,int64[::1],int64)")
def _running_sum(numbers, sums, first, scratch, last):
    for i in range(first, last):
        scratch[:] = 0
        for k in range(i + 1):
            scratch[k % scratch.size] += numbers[k]
        sums[i] = scratch[0] + scratch[1] + scratch[2]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("rows", "grain"), [(1, 1), (7, 1), (7, 4), (200, 6)])
def test_every_row_once_and_steps_in_order(threads: int, rows: int, grain: int) -> None:
    numbers, sums = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    noted: list[int] = []
    work = [
        Step(_double_and_add, (numbers, 3, FIRST, LAST), rows, grain),
        Step(_double_and_add, (numbers, 5, FIRST, LAST), rows, grain),
        lambda: noted.append(int(numbers.sum())),
        Step(_running_sum, (numbers, sums, FIRST, Scratch(3, np.int64), LAST), rows, grain),
    ]
    commands = KernelCommandList(work, threads)
    for _ in range(20):
        numbers[:] = np.arange(rows)
        expected = 4 * np.arange(rows) + 11
        commands.run()
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(sums, np.cumsum(expected))
        assert noted.pop() == expected.sum()


@kernel("void(int64[:,::1],int64[::1],int64,int64)")
def _copy_numbers(table, target, first, last):
    for i in range(first, last):
        target[i] = table[i, 1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_program_owns_all_memory_of_its_steps(threads: int) -> None:
    """Arrays, views of them, and what words point to."""
    numbers, pointed, target = np.arange(8), np.zeros(3), np.zeros(8, np.int64)
    steps = [
        Step(_double_and_add, (numbers[::-1][::-1], 3, FIRST, LAST), 8),
        Step(_copy_numbers, (Words([[pointed, n] for n in range(8)]), target, FIRST, LAST), 8),
    ]
    commands = KernelCommandList(steps, threads)
    alive = [weakref.ref(array) for array in (numbers, pointed, target)]
    del numbers, pointed, target, steps
    assert all(array() is not None for array in alive)
    commands.run()
    assert alive[0]().tolist() == (2 * np.arange(8) + 3).tolist()
    assert alive[2]().tolist() == list(range(8))
    reached = [array for array in commands.owned() if array is alive[1]()]
    assert len(reached) == 8 * threads
    del reached, commands
    assert all(array() is None for array in alive)


@kernel("void(int64[:,::1],int64)")
def _take_part(job, thread):
    commands._take_part(job.ctypes.data, thread)


@kernel("void(int64[::1],int64,int64)")
def _note_order(order, first, last):
    for i in range(first, last):
        order[1 + order[0]] = i
        order[0] += 1


@kernel("void(int64[::1],int64[::1],int64,int64)")
def _count_up(source, target, first, last):
    for i in range(first, last):
        for k in range(i % 200):
            target[i] += source[k % source.size]


ROWS = 3000


def _work():
    """A chain of steps, each reading what the one before it wrote in every row."""
    arrays = [np.ones(ROWS, np.int64), *np.zeros((30, ROWS), np.int64)]
    steps = [
        Step(_count_up, (source, two, FIRST, LAST), ROWS)
        for source, two in itertools.pairwise(arrays)
    ]
    return arrays, steps


def _expected():
    arrays, steps = _work()
    for step in steps:
        step()
    return arrays[-1]


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_steps_wait_for_each_other(threads):
    expected = _expected()
    arrays, steps = _work()
    ready = KernelCommandList(steps, threads)
    for pause in (0, 0, 0.002, 0, 0.01):  # workers look out, or sleep
        time.sleep(pause)
        for array in arrays[1:]:
            array[:] = 0
        ready.run()
        np.testing.assert_array_equal(arrays[-1], expected)


def test_helpers_do_take_part():
    """Not in every run, where cores are busy, but in some."""
    seen = np.zeros(64, np.int64)
    step = Step(_count_up, (np.ones(1 << 17, np.int64), seen, FIRST, LAST), 64)
    ready = KernelCommandList([step], 2)
    (table,) = ready._parts
    row = table._rows.numbers[0]
    helper_words = next(
        x.reshape(-1) for x in table.owned() if x.ctypes.data == row[commands.WORDS + 1]
    )
    deadline = time.monotonic() + 60
    while not helper_words[row[commands.LAST_AT]] and time.monotonic() < deadline:
        ready.run()
    assert helper_words[row[commands.LAST_AT]] > 0


@pytest.mark.parametrize(
    ("thread", "sections"), [(0, (0, 14, 28)), (1, (14, 28, 0)), (2, (28, 0, 14))]
)
def test_a_thread_begins_with_its_own_section(thread, sections, monkeypatch):
    monkeypatch.setattr(commands, "_LEAST_SHARED", 0)
    order = np.zeros(1 + 40, np.int64)
    ready = KernelCommandList([Step(_note_order, (order, FIRST, LAST), rows=40, grain=7)], 3)
    (table,) = ready._parts
    counters = next(x for x in table.owned() if x.nbytes == 8 * commands.counter_words(3, 1))
    counters[:] = 0
    _take_part(table._job.numbers, thread)
    assert order[1:].tolist() == [i for at in sections for i in range(at, min(at + 14, 40))]


def test_who_finds_the_helpers_busy_does_it_alone(monkeypatch):
    monkeypatch.setattr(commands, "_the_thread_pool", commands.ThreadPool())
    expected = _expected()
    arrays, steps = _work()
    with commands.the_thread_pool()._turn:
        KernelCommandList(steps, 2).run()
    assert not commands.the_thread_pool()._threads
    np.testing.assert_array_equal(arrays[-1], expected)


def test_programs_of_several_threads_share_the_helpers():
    expected = _expected()
    results = []

    def run():
        arrays, steps = _work()
        KernelCommandList(steps, 3).run()
        results.append(arrays[-1])

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_little_work_is_not_shared(monkeypatch):
    monkeypatch.setattr(commands, "_the_thread_pool", commands.ThreadPool())
    numbers = np.ones(100, np.int64)
    KernelCommandList([Step(_count_up, (numbers, numbers.copy(), FIRST, LAST), 100)], 2).run()
    assert not commands.the_thread_pool()._threads
    monkeypatch.setattr(commands, "_LEAST_SHARED", 0)
    KernelCommandList([Step(_count_up, (numbers, numbers.copy(), FIRST, LAST), 100)], 2).run()
    assert len(commands.the_thread_pool()._threads) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(commands.os, "fork"), reason="no fork on this system")
def test_a_forked_process_has_helpers_of_its_own():
    code = """
import os
from tests.int8.test_commands import _expected, _work
from hexsim.int8.commands import KernelCommandList
expected = _expected()
for forked in (False, True):
    child = os.fork() if forked else 0
    if child:
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    arrays, steps = _work()
    KernelCommandList(steps, 2).run()
    assert (arrays[-1] == expected).all()
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    subprocess.run(command, cwd=CHECKOUT, check=True, timeout=120)
