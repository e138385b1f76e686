"""The items of an inference are counted by the first axis, if it is a batch."""

import pytest

from hexsim.graph.batches import as_nhwc, batch_size
from tests.small_networks import Sketch


@pytest.mark.parametrize(("first", "items"), [(0, 1), (1, 1), (3, 3)])
def test_an_empty_axis_is_no_batch(first: int, items: int) -> None:
    sketch = Sketch((first, 8, 8, 3))
    assert batch_size(sketch.network(sketch.conv("in", 4, 3))) == items


@pytest.mark.parametrize(
    ("shape", "images"),
    [
        ((), (1, 1, 1, 1)),
        ((7,), (1, 1, 1, 7)),
        ((3, 4), (1, 1, 3, 4)),
        ((2, 3, 4), (1, 2, 3, 4)),
        ((5, 2, 3, 4), (5, 2, 3, 4)),
        ((2, 3, 4, 5, 6), (6, 4, 5, 6)),
        ((2, 0, 4, 5, 6), (0, 4, 5, 6)),
    ],
)
def test_leading_axes_are_filled_in_or_joined(shape, images) -> None:
    assert as_nhwc(shape) == images
