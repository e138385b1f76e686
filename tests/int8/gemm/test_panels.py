import numpy as np
import pytest

from hexsim.int8.gemm import panels
from hexsim.int8.gemm.panels import BOUND, PAIRED, pack_guarded, pack_panels
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


RNG = np.random.default_rng(5)
RUNS, RUN, COLUMNS = 3, 21, 35


def kinds():
    shape = (RUNS, RUN, 1, COLUMNS)
    alternating = np.full(shape, -128, np.int8)
    alternating[:, ::2] = 127
    return {
        "least": np.full(shape, -128, np.int8),
        "largest": np.full(shape, 127, np.int8),
        "alternating": alternating,
        "uniform": RNG.integers(-128, 128, shape, np.int8),
        "gauss": np.clip(np.rint(RNG.normal(0, 25, shape)), -128, 127).astype(np.int8),
        "zero": np.zeros(shape, np.int8),
    }


@pytest.mark.parametrize("kind", kinds())
def test_no_sum_can_saturate_and_none_is_lost(kind):
    weights = kinds()[kind]
    offsets = np.array([0, 100, 1000])
    steps = -(-RUN // 4)
    packed = pack_guarded(pack_panels(weights), offsets, steps)
    parts = packed.weights.reshape(-1, 16, 2, 2).astype(np.int64)
    assert len(parts) == len(packed.offsets)
    plain = pack_panels(weights).reshape(-1, RUNS * steps, 16, 4).astype(np.int64)
    where = (offsets[:, None] + 4 * np.arange(steps)).ravel().tolist()
    for panel, (first, twos, ones) in zip(plain, packed.table, strict=True):
        together = parts[first : first + 2 * twos].reshape(twos, 2, 16, 2, 2)
        alone = parts[first + 2 * twos : first + 2 * twos + ones]
        for operand in (together.transpose(0, 2, 3, 1, 4).reshape(twos, 16, 2, 4), alone):
            assert np.maximum(operand, 0).sum(axis=-1).max(initial=0) <= BOUND
            assert np.maximum(-operand, 0).sum(axis=-1).max(initial=0) <= BOUND
        summed = np.zeros_like(panel)
        last = first + 2 * twos + ones
        for offset, part in zip(packed.offsets[first:last], parts[first:last], strict=True):
            summed[where.index(offset)] += part.reshape(16, 4)
        np.testing.assert_array_equal(summed, panel)


def test_small_weights_pair_and_extremes_are_split():
    offsets, steps = np.arange(RUNS) * RUN, -(-RUN // 4)
    small = pack_guarded(pack_panels((kinds()["gauss"] // 4).astype(np.int8)), offsets, steps)
    assert (small.table[:, 2] <= 1).all()
    assert small.instructions <= (PAIRED * (RUNS * steps - 1) / 2 + 3) / (RUNS * steps)
    large = pack_guarded(pack_panels(kinds()["uniform"]), offsets, steps)
    assert large.instructions > 2 * small.instructions
