import pytest

from hexsim.graph.nhwc import as_nhwc


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
