"""Halves: in blocks on several cores as numpy rounds them at once."""

import numpy as np

from hexsim.onnx_io.write.precision import as_float16


def test_blocks_round_as_the_whole_does() -> None:
    random = np.random.default_rng(3)
    array = random.standard_normal((1200, 700), dtype=np.float32)
    array *= np.exp2(random.integers(-30, 18, array.shape)).astype(np.float32)
    array[0, :3] = np.inf, -np.inf, np.nan
    with np.errstate(over="ignore"):
        whole = array.astype(np.float16).astype(np.float32)
    for given, expected in ((array, whole), (array.T, whole.T), (array[:, ::3], whole[:, ::3])):
        assert np.array_equal(as_float16(given), expected, equal_nan=True)
    assert np.isinf(whole).sum() > 2


def test_no_element_and_one() -> None:
    assert as_float16(np.zeros((0, 4), np.float32)).shape == (0, 4)
    assert as_float16(np.array(1 / 3, np.float32)) == np.float32(np.float16(1 / 3))
