import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hexsim.int8.gemm.arguments import Windows
from hexsim.int8.gemm.code_sums import add_codes


@given(
    st.integers(1, 200),
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
    st.integers(1, 3),
    st.sampled_from([-128, -1, 3, 127]),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_equals_numpy(run, runs, groups, weight_zero, seed):
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.integers(0, 50, 5))
    x = rng.choice(np.array([0, 1, 77, 254, 255], np.uint8), 50 + 40 + run * groups)
    addends = np.full((groups, starts.size), 77, np.int32)
    windows = Windows(starts, np.array(runs), run, groups, run, 1)
    add_codes(x, windows, weight_zero, addends, 1, 4)
    for group in range(groups):
        for pixel in range(1, 4):
            windows = [starts[pixel] + offset + run * group for offset in runs]
            total = sum(int(x[at : at + run].sum(dtype=np.int64)) for at in windows)
            assert addends[group, pixel] == -weight_zero * total
    assert (addends[:, [0, 4]] == 77).all()


def test_long_runs_do_not_overflow():
    x = np.full(70_001, 255, np.uint8)
    addends = np.empty((1, 1), np.int32)
    nowhere = np.zeros(1, np.int64)
    add_codes(x, Windows(nowhere, nowhere, x.size, 1, 0, 1), -1, addends, 0, 1)
    assert addends[0, 0] == 255 * x.size
