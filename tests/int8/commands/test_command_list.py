"""Programs do every row once, in the order of their steps, with any number of threads.

They own what their steps read and write.
"""

import weakref

import numpy as np
import pytest

from hexsim.int8.commands.command_list import KernelCommandList
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.machine_code.words import Words
from hexsim.int8.step import FIRST, LAST, Scratch, Step


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
