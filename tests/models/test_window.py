"""The window against positions counted one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.models._window import Window


def positions(size: int, taps: int, stride: int, before: int, after: int) -> list[int]:
    return [p for p in range(-before, size + after, stride) if p + taps <= size + after]


@given(st.data())
def test_positions_and_coverage_are_those_counted(data: st.DataObject) -> None:
    size, taps, stride = (data.draw(st.integers(low, 9)) for low in (5, 1, 1))
    before, after = (data.draw(st.integers(0, 3)) for _ in range(2))
    taps = min(taps, size)
    window = Window((taps, 1), stride, (before, 0, after, 0))
    starts = positions(size, taps, stride, before, after)
    columns = len(positions(4, 1, stride, 0, 0))
    assert window.positions((size, 4)) == (len(starts), columns)
    shares = [np.mean([0 <= start + tap < size for start in starts]) for tap in range(taps)]
    np.testing.assert_allclose(window.coverage((size, 4)), shares, rtol=1e-6)


@pytest.mark.parametrize(("size", "floor", "ceil"), [(112, 55, 56), (113, 56, 56), (28, 13, 14)])
def test_pools_of_caffe_round_up(size: int, floor: int, ceil: int) -> None:
    assert Window(3, 2).positions((size, size)) == (floor, floor)
    assert Window(3, 2, ceil=True).positions((size, size)) == (ceil, ceil)


def test_pads_are_given_to_onnx_as_top_left_bottom_right() -> None:
    assert Window(3, pads=1).attributes["pads"] == (1, 1, 1, 1)
    assert Window((1, 7), pads=(0, 3)).attributes["pads"] == (0, 3, 0, 3)
    assert Window(3, pads=(0, 1, 2, 3)).attributes["pads"] == (0, 1, 2, 3)
    assert Window((1, 7)).attributes["kernel_shape"] == (1, 7)


@pytest.mark.parametrize(
    ("kernel", "stride", "pads"),
    [
        (1, 1, (0, 0, 0, 0)),
        (1, 2, (0, 0, 0, 0)),
        (3, 1, (1, 1, 1, 1)),
        (3, 2, (0, 0, 1, 1)),
        (5, 2, (1, 1, 2, 2)),
    ],
)
def test_same_padding_divides_the_image_by_the_stride(
    kernel: int, stride: int, pads: tuple[int, ...]
) -> None:
    window = Window.same(kernel, stride)
    assert window.attributes["pads"] == pads
    assert window.positions((28, 14)) == (28 // stride, 14 // stride)


def test_centred_padding_is_the_same_on_every_side() -> None:
    assert Window.centred(5, 2) == Window(5, 2, pads=2)
