import numpy as np
import pytest

from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.requantize import RequantizeStage, requantize_run
from tests.int8 import naive
from tests.int8.guarded_memory import BEHIND, guarded


@kernel("void(int32[::1],RequantizeStage,uint8[::1])")
def _run(sums, stage, codes):
    requantize_run(sums, stage, codes)


def codes_of_run(sums, stage):
    """The codes of sums, with memory around them that must not be touched."""
    codes = guarded(np.full(sums.size, 77, np.uint8), BEHIND)
    _run(guarded(sums, BEHIND), stage, codes)
    return codes


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1000])
@pytest.mark.parametrize(("low", "high"), [(0, 255), (3, 200), (7, 7)])
@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("multiplier", [1, 65536, 2**30, 2**31 - 1])
def test_equals_reference(size, low, high, shift, multiplier):
    rng = np.random.default_rng(size)
    edge = 2**31 // multiplier  # sums of about one code
    sums = rng.integers(-2 * edge, 300 * edge, size).clip(-(2**31), 2**31 - 1).astype(np.int32)
    extremes = np.array([-(2**31), 2**31 - 1, -1, 0, 1, edge // 2, -edge // 2, edge], np.int64)
    sums[:8] = extremes[: sums[:8].size].clip(-(2**31), 2**31 - 1)
    codes = codes_of_run(sums, RequantizeStage(0, multiplier, shift, low, high))
    np.testing.assert_array_equal(codes, naive.requantize(sums, multiplier, shift, low, high))
