from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hexsim.hta.layout import flat_bytes, is_flat, tensor_bytes
from hexsim.hvx.layout import vectors


@given(st.tuples(*[st.integers(1, 70)] * 4), st.sampled_from([8, 16]))
def test_images_are_padded_as_d32_and_single_pixels_are_not(
    shape: tuple[int, ...], bits: int
) -> None:
    expected = flat_bytes(shape, bits) if is_flat(shape) else vectors(shape) * 128 * bits // 8
    assert tensor_bytes(shape, bits) == expected


def test_an_image_one_pixel_wide_is_kept_four_pixels_wide() -> None:
    assert tensor_bytes((1, 100, 1, 32), 8) == 4 * flat_bytes((1, 100, 1, 32), 8)
    assert tensor_bytes((1, 1, 1, 33), 8) == 33
