"""Programs do every row once, in the order of their steps, with any number of threads."""

import numpy as np
import pytest

from hexsim.int8.jit import kernel
from hexsim.int8.program import Program
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Workspace


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


@kernel("void(uint8[:,:],int32,float32[::1],int64,int64)")
def _columns(x, add, out, first, last):
    for row in range(first, last):
        for column in range(x.shape[1]):
            out[row * x.shape[1] + column] = x[row, column] + add


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
    program = Program(work, threads)
    for _ in range(20):
        numbers[:] = np.arange(rows)
        expected = 4 * np.arange(rows) + 11
        program.run()
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(sums, np.cumsum(expected))
        assert noted.pop() == expected.sum()


def test_types_and_strides_reach_the_kernel() -> None:
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::3]
    out = np.zeros(4, np.float32)
    Program([Step(_columns, (x, -7, out, FIRST, LAST), 2)], 1).run()
    np.testing.assert_array_equal(out, x.ravel() - np.float32(7))


def test_a_step_in_pieces() -> None:
    numbers = np.zeros(5, np.int64)
    step = Step(_double_and_add, (numbers, 1, FIRST, LAST), 5)
    step.piece(1, 3)
    assert numbers.tolist() == [0, 1, 1, 0, 0]
    step()
    assert numbers.tolist() == [1, 3, 3, 1, 1]


def test_a_workspace_is_used_again_by_the_next_call() -> None:
    sizes = Workspace()
    sizes.empty(10, np.int16), sizes.empty((3, 50), np.uint8)
    sizes.next_call()
    sizes.empty(1, np.int64)
    workspace = Workspace(sizes.needed)
    first, second = workspace.empty(10, np.int16), workspace.empty((3, 50), np.uint8)
    assert second.shape == (3, 50)
    assert not np.shares_memory(first, second)
    workspace.next_call()
    assert np.shares_memory(workspace.empty(1, np.int64), first)
