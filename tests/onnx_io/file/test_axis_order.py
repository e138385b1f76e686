"""Axis order arithmetic against numpy moving the elements."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.onnx_io.file.axis_order import (
    channels_last,
    identity,
    reshaped,
    runs,
    transposed,
    without,
)

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)


@st.composite
def stored(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(shapes)
    return shape, tuple(draw(st.permutations(range(len(shape)))))


@st.composite
def regrouped(draw: st.DrawFn) -> tuple[int, ...]:
    """A shape that has a good chance of holding as many elements as another of these."""
    return tuple(draw(st.permutations([2, 2, 3, 1, 1][: draw(st.integers(3, 5))])))


def _sequence(shape: tuple[int, ...], order: tuple[int, ...]) -> list[int]:
    """Flat source indices in stored sequence."""
    return np.arange(math.prod(shape)).reshape(shape).transpose(order).ravel().tolist()


@given(stored(), stored())
def test_equal_runs_mean_equal_sequences(
    first: tuple[tuple[int, ...], tuple[int, ...]], two: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    if math.prod(first[0]) == math.prod(two[0]):
        assert (runs(*first) == runs(*two)) == (_sequence(*first) == _sequence(*two))


@given(regrouped(), st.randoms(), regrouped())
def test_a_reshape_in_place_moves_nothing(
    shape: tuple[int, ...], random: object, target: tuple[int, ...]
) -> None:
    order = list(range(len(shape)))
    random.shuffle(order)  # type: ignore[attr-defined]
    if math.prod(shape) != math.prod(target):
        return
    result = reshaped(shape, tuple(order), target)
    if result is not None:
        assert _sequence(target, result) == _sequence(shape, tuple(order))
    if order == sorted(order):
        assert result is not None


def test_known_reshapes() -> None:
    nhwc = channels_last(4)
    assert reshaped((1, 8, 1, 1), nhwc, (1, 8)) == (0, 1)
    assert reshaped((1, 8), (0, 1), (1, 8, 1, 1)) == nhwc
    assert reshaped((1, 8, 4, 4), nhwc, (1, 128)) is None
    assert reshaped((1, 8, 4, 5), nhwc, (1, 8, 20)) == (0, 2, 1)
    assert reshaped((1, 8, 4, 5), nhwc, (1, 2, 4, 4, 5)) == (0, 3, 4, 1, 2)


@given(stored(), st.randoms())
def test_transposes_equal_numpy(
    tensor: tuple[tuple[int, ...], tuple[int, ...]], random: object
) -> None:
    shape, order = tensor
    permutation = list(range(len(shape)))
    random.shuffle(permutation)  # type: ignore[attr-defined]
    result, moved = transposed(order, permutation)
    source = np.arange(math.prod(shape)).reshape(shape)
    held = source.transpose(order).transpose(moved)
    assert np.array_equal(held, source.transpose(permutation).transpose(result))


def test_a_transpose_between_the_two_image_orders_moves_nothing() -> None:
    assert transposed(channels_last(4), (0, 2, 3, 1)) == (identity(4), (0, 1, 2, 3))
    assert transposed(identity(4), (0, 3, 1, 2)) == (channels_last(4), (0, 1, 2, 3))


@given(stored(), st.data())
def test_an_axis_of_size_one_is_dropped_where_it_is(
    stored: tuple[tuple[int, ...], tuple[int, ...]], data: st.DataObject
) -> None:
    shape, order = stored
    axis = data.draw(st.integers(0, len(shape) - 1))
    flat = (*shape[:axis], 1, *shape[axis + 1 :])
    dropped = (*shape[:axis], *shape[axis + 1 :])
    assert _sequence(dropped, without(axis, order)) == _sequence(flat, order)
