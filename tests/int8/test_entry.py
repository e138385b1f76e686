"""Entries hand over every type of argument, and are made once."""

import numpy as np

from hexsim.int8.entry import entries
from hexsim.int8.jit import kernel
from hexsim.int8.program import Program
from hexsim.int8.step import FIRST, LAST, Step


@kernel("void(uint8[:,:],int32,float32[::1],int64,int64)")
def _columns(x, add, out, first, last):
    for row in range(first, last):
        for column in range(x.shape[1]):
            out[row * x.shape[1] + column] = x[row, column] + add


def test_types_and_strides_reach_the_kernel() -> None:
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::3]
    out = np.zeros(4, np.float32)
    Program([Step(_columns, (x, -7, out, FIRST, LAST), 2)], 1).run()
    np.testing.assert_array_equal(out, x.ravel() - np.float32(7))


def test_an_entry_is_made_once() -> None:
    first = entries([_columns, _columns])
    assert entries([_columns]) == first
