import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.requantize import requantize
from tests.int8 import naive


@kernel("void(int32[::1],int32[::1],int32[::1],int32,int32,uint8[::1])")
def requantize_all(accumulators, multipliers, shifts, low, high, out):
    for i in range(out.size):
        out[i] = requantize(accumulators[i], multipliers[i], shifts[i], low, high)


INT32 = st.integers(-(2**31), 2**31 - 1) | st.sampled_from([-(2**31), -1, 0, 1, 2**31 - 1])
CASES = st.tuples(INT32, st.integers(1, 2**31 - 1) | st.just(2**30), st.integers(0, 31))


@given(st.lists(CASES, min_size=1, max_size=40), st.integers(0, 255), st.integers(0, 255))
def test_equals_reference(cases, a, b):
    accumulator, multiplier, shift = np.array(cases, np.int32).T.copy()
    low, high = min(a, b), max(a, b)
    out = np.empty(len(cases), np.uint8)
    requantize_all(accumulator, multiplier, shift, low, high, out)
    np.testing.assert_array_equal(out, naive.requantize(accumulator, multiplier, shift, low, high))


def test_around_every_rounding_boundary():
    multiplier = 2**31 // 1000 + 1
    codes = np.arange(1, 256, dtype=np.int64)
    edge = -(-(codes * 2**31 - 2**30) // multiplier)  # least accumulator that gives `codes`
    accumulator = np.concatenate([edge, edge - 1]).astype(np.int32)
    out = np.empty(accumulator.size, np.uint8)
    constants = np.full(out.size, multiplier, np.int32), np.zeros(out.size, np.int32)
    requantize_all(accumulator, *constants, 0, 255, out)
    np.testing.assert_array_equal(out, np.concatenate([codes, codes - 1]))
