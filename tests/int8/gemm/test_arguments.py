import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.gemm.arguments import SLACK, PaddedInput
from hexsim.int8.step import Workspace
from hexsim.layers import Window
from tests.int8 import naive
from tests.int8.drawn import arrays, windows
from tests.thorough import examples


@given(st.data())
@examples(60)
def test_starts_and_offsets_reach_every_tap(data):
    shape = tuple(data.draw(st.integers(1, n)) for n in (2, 7, 7, 5))
    window = data.draw(windows(*shape[1:3]))
    zero_point = data.draw(st.integers(0, 255))
    codes = data.draw(arrays(shape))
    padded = PaddedInput(shape, window, zero_point)
    copy, filling = padded.copied(codes, Workspace())
    for step in filling:
        step()
    assert copy.size == shape[0] * padded.height * padded.width * shape[3] + SLACK
    starts = padded.starts().reshape(shape[0], *padded.output_size)
    offsets = padded.tap_offsets()
    for n, oy, ox in naive.pixels(starts.shape):
        expected = np.zeros((*window.kernel, shape[3]), np.int64)
        for ky, kx, y, x in naive.taps(window, shape, oy, ox):
            expected[ky, kx] = codes[n, y, x].astype(np.int64) - zero_point
        reached = (starts[n, oy, ox] + offsets)[:, :, None] + np.arange(shape[3])
        np.testing.assert_array_equal(copy[reached], expected)


def test_input_behind_the_last_window_is_left_out():
    padded = PaddedInput((1, 6, 6, 1), Window((1, 1), (4, 4)), 0)
    assert (padded.height, padded.width) == (5, 5)
    copy, filling = padded.copied(np.arange(36, dtype=np.uint8).reshape(1, 6, 6, 1), Workspace())
    for step in filling:
        step()
    np.testing.assert_array_equal(copy[:5], range(5))
