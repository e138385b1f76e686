"""Entries hand over every type of argument, and are made once."""

import re

import numpy as np
import pytest

from hexsim.int8.commands.command_list import KernelCommandList
from hexsim.int8.machine_code.entry import entries
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.step import FIRST, LAST, Step


@kernel("void(uint8[:,:],int32,float32[::1],int64,int64)")
def _columns(x, add, out, first, last):
    for row in range(first, last):
        for column in range(x.shape[1]):
            out[row * x.shape[1] + column] = x[row, column] + add


def test_types_and_strides_reach_the_kernel() -> None:
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::3]
    out = np.zeros(4, np.float32)
    KernelCommandList([Step(_columns, (x, -7, out, FIRST, LAST), 2)], 1).run()
    np.testing.assert_array_equal(out, x.ravel() - np.float32(7))


def test_an_entry_is_made_once() -> None:
    first = entries([_columns, _columns])
    assert entries([_columns]) == first


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({0: np.zeros((4, 6), np.int8)}, "argument 0 is no array(uint8, 2d, A) but contiguous"),
        ({0: np.zeros(4, np.uint8)}, "contiguous array of uint8, 1 dimensions"),
        ({1: 0.5}, "argument 1 is no int32 but float"),
        ({1: np.zeros(1, np.int32)}, "argument 1 is no int32"),
        ({2: np.zeros(8, np.float32)[::2]}, "but strided array of float32"),
        ({2: 7}, "argument 2 is no array(float32, 1d, C) but int"),
    ],
)
def test_wrong_arguments_never_reach_machine_code(changed, said) -> None:
    right = [np.zeros((4, 6), np.uint8), 3, np.zeros(24, np.float32), FIRST, LAST]
    arguments = tuple(changed.get(at, argument) for at, argument in enumerate(right))
    with pytest.raises(TypeError, match=re.escape(said)):
        KernelCommandList([Step(_columns, arguments, 4)], 1)
    with pytest.raises(TypeError, match="takes 5 arguments, not 4"):
        KernelCommandList([Step(_columns, tuple(right[1:]), 4)], 1)
