"""The items of an inference are counted by the first axis, if it is a batch."""

from dataclasses import replace

import pytest

from hexsim.graph.batches import as_nhwc, batch_size
from hexsim.layers import Neuron
from tests.small_networks import Sketch


@pytest.mark.parametrize(("first", "items"), [(0, 1), (1, 1), (3, 3)])
def test_an_empty_axis_is_no_batch(first: int, items: int) -> None:
    sketch = Sketch((first, 8, 8, 3))
    assert batch_size(sketch.network(sketch.conv("in", 4, 3))) == items


@pytest.mark.parametrize(("shape", "items"), [((3, 8, 8), 1), ((3, 8, 8, 3), 3)])
def test_a_picture_whose_outputs_are_sized_by_values_is_no_batch(
    shape: tuple[int, ...], items: int
) -> None:
    sketch = Sketch(shape)
    network = sketch.network(sketch.add(Neuron, "in", function="tanh"))
    (name,) = network.outputs
    unsized = replace(network.tensors[name], varies=(0,))
    assert batch_size(network) == 3
    assert batch_size(replace(network, tensors={**network.tensors, name: unsized})) == items


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
