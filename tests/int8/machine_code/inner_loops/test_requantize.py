"""One instruction rounds, whichever CPU of those that have it: two would round twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import ir

from hexsim.int8.machine_code.addresses import FLOAT, INT32, broadcast, load, store
from hexsim.int8.machine_code.features import has_fused_floats
from hexsim.int8.machine_code.inner_loops.requantize import (
    FLOATS,
    PLAIN,
    SHIFTED,
    FloatRounding,
    requantize_rows,
)
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.panel import COLUMNS
from hexsim.int8.requantize import row_stage
from hexsim.lowering.requantize import Requantize
from tests.int8 import naive
from tests.int8.machine_code.assembly import assembly
from tests.int8.test_requantize import CASES


@kernel(
    "void(int32[:,::1],int32[::1],int32[::1],int32[::1],int32[::1],int64,int32,int32,uint8[:,::1])"
)
def some_rows(sums, addends, preload, multiplier, shift, way, low, high, out):
    requantize_rows(
        sums.shape[0],
        sums.ctypes.data,
        4 * sums.shape[1],
        addends.ctypes.data,
        preload.ctypes.data,
        multiplier.ctypes.data,
        shift.ctypes.data,
        way,
        low,
        high,
        out.ctypes.data,
        out.shape[1],
    )


@given(
    st.lists(CASES, min_size=COLUMNS, max_size=COLUMNS),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=3),
    st.booleans(),
    st.tuples(st.integers(0, 255), st.integers(0, 255)),
    st.integers(0, 5),
)
@settings(deadline=None)
def test_equals_reference(cases, added, shifted, limits, gap):
    total, multiplier, shift = np.array(cases, np.int32).T.copy()
    if not shifted:
        shift[:] = 0
    addends = np.array(added, np.int32)
    preload = np.arange(COLUMNS, dtype=np.int32) * 2**27
    sums = np.full((len(added), COLUMNS + gap), 77, np.int32)
    apart = total - preload.astype(np.int64) - addends[:, np.newaxis]
    sums[:, :COLUMNS] = naive.wrap(apart)
    out = np.full((len(added), COLUMNS + 2 * gap), 77, np.uint8)
    low, high = sorted(limits)
    some_rows(sums, addends, preload, multiplier, shift, int(shift.any()), low, high, out)
    expected = naive.requantize(total, multiplier, shift, low, high)
    np.testing.assert_array_equal(out[:, :COLUMNS], np.tile(expected, (len(added), 1)))
    assert (out[:, COLUMNS:] == 77).all()


@pytest.mark.skipif(not has_fused_floats(), reason="this CPU does not fuse multiply and add")
@given(
    st.lists(st.integers(2**15 + 1, 2**23), min_size=COLUMNS, max_size=COLUMNS),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=3, max_size=3),
    st.integers(-300, 600),
    st.tuples(st.integers(0, 255), st.integers(0, 255)),
)
@settings(deadline=None)
def test_floats_equal_reference(multipliers, far, code, limits):
    """Sums about a code's threshold, and any; multipliers of which floats take all."""
    multiplier, shift = np.array(multipliers, np.int32) | 1, np.zeros(COLUMNS, np.int32)
    low, high = sorted(limits)
    near = -(-(code * 2**31 - 2**30) // multiplier.astype(np.int64))
    sums = np.array([near, near - 1, *np.tile(far, (COLUMNS, 1)).T]).clip(-(2**31), 2**31 - 1)
    sums = sums.astype(np.int32)
    way, bits = row_stage(Requantize(shift, multiplier, shift, low, high))
    assert way == FLOATS
    out = np.empty(sums.shape, np.uint8)
    none = np.zeros(len(sums), np.int32)
    some_rows(sums, none, shift, bits, shift, way, low, high, out)
    expected = [naive.requantize(row, multiplier, shift, low, high) for row in sums]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("way", [PLAIN, SHIFTED])
def test_ties_go_up(way):
    sums = np.arange(-8, 8, dtype=np.int32).reshape(1, -1)
    half, none = np.full(COLUMNS, 2**30, np.int32), np.zeros(COLUMNS, np.int32)
    out = np.empty((1, COLUMNS), np.uint8)
    some_rows(sums, none[:1], none, half, none, way, 0, 255, out)
    np.testing.assert_array_equal(out, np.maximum(np.floor(sums / 2 + 0.5), 0))


@pytest.mark.parametrize(
    ("lanes", "cpu", "register"), [(8, "haswell", "%ymm"), (16, "icelake-server", "%zmm")]
)
def test_product_and_sum_are_one_instruction(lanes, cpu, register):
    def emit(builder, words):
        sums, factor, limits, out = words
        low, high = builder.trunc(limits, INT32), builder.trunc(limits, INT32)
        rounding = FloatRounding(builder, low, high, lanes)
        scale = broadcast(builder, load(builder, factor, FLOAT), rounding.kind)
        total = load(builder, sums, ir.VectorType(INT32, lanes))
        store(builder, rounding.code(total, scale), out)

    lines = assembly(emit, 4, cpu)
    for instruction in ("vcvtdq2ps", "vfmadd", "vminps", "vmaxps"):
        assert [instruction in line and register in line for line in lines].count(True) == 1
    assert not any("vmulps" in line or "call" in line for line in lines)
