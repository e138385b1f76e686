import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.pointwise.strided_copy import copy, merged_axes
from tests.int8.guarded_memory import BEFORE, BEHIND, guarded, run_guarded
from tests.thorough import examples


@st.composite
def views(draw, shape, array):
    """A view of that shape into `array` (which is large enough): permuted, stepped, reversed."""
    order = draw(st.permutations(range(len(shape))))
    cuts = []
    for size in (shape[axis] for axis in order):
        step = draw(st.sampled_from([1, 1, 2, -1, -3]))
        start = draw(st.integers(0, 1)) if step > 0 else (size - 1) * -step
        stop = start + size * step
        cuts.append(slice(start, stop if stop >= 0 else None, step))
    full = array.reshape((12,) * len(shape))
    return full[tuple(cuts)].transpose(np.argsort(order))


@given(st.data())
@examples(60)
def test_equals_numpy(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    kind = data.draw(st.sampled_from([np.uint8, np.uint16]))
    for pieces, side in ((1, BEHIND), (3, BEFORE)):
        numbers = np.arange(12 ** len(shape)).astype(kind)
        source = data.draw(views(shape, guarded(numbers, side)))
        memory = guarded(np.full(numbers.size, 77, kind), side)
        target = data.draw(views(shape, memory))
        before = memory.copy()
        run_guarded(copy(source, target), pieces, side)
        np.testing.assert_array_equal(target, source)
        target[...] = 77
        np.testing.assert_array_equal(memory, before)  # nothing else was written


def test_an_element_repeats_along_an_axis_without_step():
    source = np.arange(3, dtype=np.uint8)
    target = np.zeros((4, 3, 5), np.uint8)
    spread = np.lib.stride_tricks.as_strided(source, target.shape, (0, 1, 0))
    copy(spread, target)()
    np.testing.assert_array_equal(target, spread)


def test_axes_merge_where_all_arrays_go_on_evenly():
    assert merged_axes((2, 3, 4), [(12, 4, 1), (24, 8, 2)]) == ([1, 24], [(0, 1), (0, 2)])
    assert merged_axes((2, 3, 4), [(12, 4, 1), (0, 0, 1)]) == ([6, 4], [(4, 1), (0, 1)])
    assert merged_axes((1, 1), [(1, 1)]) == ([1, 1], [(0, 0)])


def test_a_scalar_is_copied_where_it_is():
    target = np.zeros((), np.uint8)
    copy(np.array(5, np.uint8), target)()
    assert target == 5
