import numpy as np

from hexsim.int8.winograd.maps import (
    INPUT_MAP,
    INVERSE,
    KERNEL,
    LIMIT,
    OUTPUT_MAP,
    OUTPUTS,
    POINTS,
    SCALE,
    SHIFT,
    WEIGHT_MAP,
)

PAIRED = np.eye(POINTS, dtype=np.int64)
for odd in (1, 3):
    PAIRED[odd : odd + 2, odd : odd + 2] = [[1, 1], [1, -1]]
TO_INPUTS, TO_WEIGHTS = PAIRED @ np.array(INPUT_MAP), PAIRED @ np.array(WEIGHT_MAP)
TO_OUTPUTS = np.array(OUTPUT_MAP) @ PAIRED


def test_products_give_every_output_times_the_scale():
    for at, weight in enumerate(np.eye(KERNEL, dtype=np.int64)):
        for place, code in enumerate(np.eye(POINTS, dtype=np.int64)):
            products = (TO_WEIGHTS @ weight) * (TO_INPUTS @ code)
            expected = [SCALE * (place == output + at) for output in range(OUTPUTS)]
            assert (TO_OUTPUTS @ products).tolist() == expected


def test_transforms_of_distances_fit_int16():
    for matrix in (TO_INPUTS, TO_WEIGHTS):
        assert 255 * np.abs(matrix).sum(axis=1).max() ** 2 < 2**15


def test_sums_within_the_limit_come_back():
    for total in (0, 1, -1, LIMIT - 1, -LIMIT, 12345678, -23456789):
        scaled = total * SCALE**2 % 2**32 * INVERSE % 2**32
        signed = (scaled + 2**31) % 2**32 - 2**31
        assert signed >> SHIFT == total
