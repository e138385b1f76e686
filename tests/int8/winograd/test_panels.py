import numpy as np
import pytest

from hexsim.int8.machine_code.inner_loops.winograd_tile import pair_tile
from hexsim.int8.panel import COLUMNS
from hexsim.int8.winograd.maps import LIMIT, SQUARES
from hexsim.int8.winograd.panels import pack_winograd, sums_fit
from hexsim.lowering import Weights
from tests.int8.winograd.test_maps import TO_WEIGHTS


@pytest.mark.parametrize("zero_point", [0, 100, 255])
@pytest.mark.parametrize("weight", [127, -128])
def test_sums_fit_up_to_what_codes_can_reach(zero_point, weight):
    largest = max(zero_point, 255 - zero_point) * abs(weight)
    depth = (LIMIT - 1) // (9 * largest)
    for deep, fits in ((depth, True), (depth + 1, False)):
        codes = np.full((3, 3, deep, 2), weight, np.int8)
        codes[..., 0] = 1
        assert sums_fit(Weights(codes, 0, np.ones(2)), zero_point) == fits


def test_weights_of_both_signs_bound_each_other():
    deep = 150  # 9 * 150 * 128 * 255 > LIMIT
    codes = np.full((3, 3, deep, 1), 127, np.int8)
    assert not sums_fit(Weights(codes, 0, np.ones(1)), 0)
    codes[:, :, ::2] = -128
    assert sums_fit(Weights(codes, 0, np.ones(1)), 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(("deep", "columns"), [(1, 1), (5, 16), (16, 33), (7, 50)])
def test_panels_hold_transformed_weights(dtype, deep, columns):
    info, zero = np.iinfo(dtype), 0 if dtype is np.int8 else 200
    rng = np.random.default_rng(deep)
    codes = rng.integers(info.min, info.max, (3, 3, deep, columns), dtype, endpoint=True)
    codes[:, :, 0, 0] = info.min
    distances = codes.astype(np.int64) - zero
    expected = np.einsum("pi,qj,ijkc->pqkc", TO_WEIGHTS, TO_WEIGHTS, distances)
    steps, of_tile = -(-deep // 2), pair_tile().panels
    panels = -(-columns // (COLUMNS * of_tile)) * of_tile
    packed = pack_winograd(Weights(codes, zero, np.ones(columns))).view(np.int16)
    unpacked = packed.reshape(panels, SQUARES, steps, COLUMNS, 2).transpose(1, 2, 4, 0, 3)
    unpacked = unpacked.reshape(SQUARES, 2 * steps, panels * COLUMNS)
    np.testing.assert_array_equal(unpacked[:, :deep, :columns], expected.reshape(SQUARES, deep, -1))
    assert not unpacked[:, deep:].any()
    assert not unpacked[:, :, columns:].any()
