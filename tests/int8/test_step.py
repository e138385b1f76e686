"""Steps do the rows they are told to; a workspace lends memory to one call at a time."""

import numpy as np

from hexsim.int8.machine_code.arguments import Slot, Words
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Workspace


@kernel("void(int64[::1],int64,int64,int64)")
def _double_and_add(numbers, value, first, last):
    for i in range(first, last):
        numbers[i] = 2 * numbers[i] + value


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


def test_a_full_workspace_lends_new_memory() -> None:
    workspace = Workspace(64)
    first, second = workspace.empty(64, np.uint8), workspace.empty(1, np.uint8)
    assert not np.shares_memory(first, second)
    assert workspace.needed == 128


def test_scratch_is_whole_cache_lines() -> None:
    assert Scratch(3, np.int64).bytes == 64


def test_bytes_are_those_of_everything_reached() -> None:
    numbers, slot = np.zeros(5, np.int64), Slot()
    pointing = Words([[numbers, 5], [numbers, 5]])
    step = Step(_double_and_add, (numbers, 1, pointing, slot, FIRST, LAST), 5)
    assert step.bytes == 40 + (32 + 40 + 40) + 8
