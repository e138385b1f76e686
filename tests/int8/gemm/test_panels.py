import numpy as np
import pytest

from hexsim.int8.gemm import panels
from hexsim.lowering import Weights


@pytest.mark.parametrize("block", [1, 700, 1 << 20])
@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_a_step_is_four_bytes_of_every_channel(dtype, block, monkeypatch):
    monkeypatch.setattr(panels, "_BLOCK", block)
    runs, run, groups, columns = 2, 75, 3, 18
    weights = np.arange(runs * run * groups * columns).reshape(runs, run, groups, columns)
    weights = (weights % 127).astype(dtype)
    step = 4 // weights.itemsize
    steps = -(-run // step)
    packed = panels.pack_panels(weights).reshape(groups, 2, runs, steps, 16, step)
    for (tap, k, group, column), weight in np.ndenumerate(weights):
        place = packed[group, column // 16, tap, k // step, column % 16, k % step]
        assert place == weight
    assert np.count_nonzero(packed) == np.count_nonzero(weights)


@pytest.mark.parametrize(("dtype", "zero"), [(np.uint8, 0), (np.uint8, 255), (np.int8, 0)])
def test_codes_times_signed_weights_is_the_same_sum(dtype, zero):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    codes = rng.integers(info.min, info.max, (2, 3, 4, 5), dtype, endpoint=True)
    codes[0] = info.min
    weights, x_zero = Weights(codes, zero, np.ones(5)), 77
    preload = np.array([2**31 - 1, -(2**31), 0, 1, 2], np.int32)
    moved = panels.less_codes_zero(preload, codes, zero, x_zero)
    x = rng.integers(0, 256, 24)
    flat = codes.reshape(24, 5).astype(np.int64)
    packed = panels.pack_panels(codes.reshape(1, 24, 1, 5)).reshape(6, 16, 4)
    signed = packed.transpose(0, 2, 1).reshape(24, 16)[:, :5].astype(np.int64)
    expected = preload + (x - x_zero) @ (flat - zero)
    sums = moved + x @ signed - panels.signed_zero(weights) * x.sum()
    np.testing.assert_array_equal((sums - expected) % 2**32, 0)


def test_constants_of_unused_columns_are_zero():
    padded = panels.pad_to_panels(np.arange(1, 7, dtype=np.int32), 2).reshape(2, 16)
    np.testing.assert_array_equal(padded[:, :3], [[1, 2, 3], [4, 5, 6]])
    assert not padded[:, 3:].any()
