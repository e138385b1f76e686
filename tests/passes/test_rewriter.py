"""Runs tell where elements come from."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.passes._rewriter import in_place, permuted, view


@given(st.data())
def test_a_view_moves_the_same_elements(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=7)))
    permutation = tuple(data.draw(st.permutations(range(len(shape)))))
    runs = permuted(in_place(shape), shape, permutation)
    assert runs is not None
    fewer, order = view(runs)
    x = np.arange(np.prod(shape)).reshape(shape)
    moved = x.reshape(fewer).transpose(order).ravel()
    np.testing.assert_array_equal(moved, x.transpose(permutation).ravel())
    assert 1 not in fewer
    back = permuted(runs, [shape[axis] for axis in permutation], np.argsort(permutation))
    assert back == in_place(shape)


def test_an_axis_that_is_no_part_of_a_run() -> None:
    runs = permuted(in_place((4, 6)), (4, 6), (1, 0))
    assert runs is not None
    assert permuted(runs, (3, 8), (1, 0)) is not None
    assert permuted(runs, (8, 3), (1, 0)) is None
