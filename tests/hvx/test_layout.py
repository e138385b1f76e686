from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Shape
from hexsim.hvx.layout import stored_bytes, tensor_sizes, vectors
from tests.small_networks import Sketch, plan

SHAPES = st.tuples(st.integers(1, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 70))


def addresses(shape: Shape) -> int:
    """Highest d32 address of an element, plus the rest of its vector."""
    _, height, width, channels = shape
    sheet_count = (channels + 31) // 32
    padded = (width + 3) // 4 * 4
    highest = max(
        ((((b * height + h) * sheet_count + c // 32) * padded + w) * 32) + c % 32
        for b, h, w, c in itertools.product(*map(range, shape))
    )
    return (highest // 128 + 1) * 128


@given(SHAPES.filter(lambda shape: shape[1] * shape[2] > 1))
def test_stored_bytes_hold_the_address_of_every_element(shape: Shape) -> None:
    assert stored_bytes(shape) == addresses(shape)
    assert vectors(shape) * 128 == stored_bytes(shape)


def test_a_tensor_without_spatial_axes_is_flat() -> None:
    assert stored_bytes((1, 1000)) == 1024
    assert stored_bytes((2, 1, 1, 130)) == 512


def test_images_of_few_channels_enter_flat_and_later_tensors_are_d32() -> None:
    net = Sketch((1, 10, 10, 3))
    out = net.conv("in", 3)
    sizes = tensor_sizes(plan(net.network(out)).subnets[0])
    assert sizes == {"in": 300, out: 10 * 12 * 32}
