"""Arrays in another order of axes: the elements that numpy's own copy has."""

from itertools import permutations

import numpy as np
import pytest

from hexsim.graph.transposed_copy import contiguous

SHAPES = [(700, 400), (1, 300_000), (3, 3, 130, 250), (97, 31, 5, 19), (2, 600, 1, 300)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_every_order_of_axes_is_copied_as_numpy_does(
    shape: tuple[int, ...], dtype: type[np.generic]
) -> None:
    array = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    for order in permutations(range(array.ndim)):
        for turned in (array.transpose(order), array[::-1].transpose(order)):
            result = contiguous(turned)
            assert result.flags.c_contiguous
            assert np.array_equal(result, turned)


def test_what_lies_in_order_is_not_copied() -> None:
    array = np.zeros((600, 600))
    assert contiguous(array) is array


def test_a_value_that_is_repeated_in_memory_is_copied() -> None:
    row = np.arange(1000)
    assert np.array_equal(contiguous(np.broadcast_to(row, (500, 1000))), np.tile(row, (500, 1)))
