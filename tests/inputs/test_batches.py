"""The items of an inference are counted by the first axis, if it is a batch."""

import pytest

from hexsim.inputs.batches import batch_size
from tests.small_networks import Sketch


@pytest.mark.parametrize(("first", "items"), [(0, 1), (1, 1), (3, 3)])
def test_an_empty_axis_is_no_batch(first: int, items: int) -> None:
    sketch = Sketch((first, 8, 8, 3))
    assert batch_size(sketch.network(sketch.conv("in", 4, 3))) == items
