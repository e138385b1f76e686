import numpy as np
import pytest

from hexsim.int8.gemm.guarded_panels import BOUND, PAIRED, pack_guarded
from hexsim.int8.gemm.panels import pack_panels

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
