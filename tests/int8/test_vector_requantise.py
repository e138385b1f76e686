import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.jit import kernel
from hexsim.int8.microkernel import COLUMNS
from hexsim.int8.vector_requantise import requantise_row
from tests.int8 import naive
from tests.int8.test_requantise import CASES


@kernel("void(int32[::1],int32[::1],int32[::1],int32[::1],int32,int32,uint8[::1])")
def one_row(sums, preload, multiplier, shift, low, high, out):
    requantise_row(
        sums.ctypes.data,
        preload.ctypes.data,
        multiplier.ctypes.data,
        shift.ctypes.data,
        low,
        high,
        out.ctypes.data,
    )


@given(
    st.lists(CASES, min_size=COLUMNS, max_size=COLUMNS),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 255),
    st.integers(0, 255),
)
def test_equals_twin(cases, added, a, b):
    total, multiplier, shift = np.array(cases, np.int32).T.copy()
    preload = np.full(COLUMNS, added, np.int32)
    sums = naive.wrap(total.astype(np.int64) - added).astype(np.int32)
    out = np.empty(COLUMNS, np.uint8)
    one_row(sums, preload, multiplier, shift, min(a, b), max(a, b), out)
    expected = naive.requantise(total, multiplier, shift, min(a, b), max(a, b))
    np.testing.assert_array_equal(out, expected)


def test_ties_go_up():
    sums = np.arange(-8, 8, dtype=np.int32)
    half, none = np.full(COLUMNS, 2**30, np.int32), np.zeros(COLUMNS, np.int32)
    out = np.empty(COLUMNS, np.uint8)
    one_row(sums, none, half, none, 0, 255, out)
    np.testing.assert_array_equal(out, np.maximum(np.floor(sums / 2 + 0.5), 0))
