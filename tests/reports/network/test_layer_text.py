"""Counts, shapes and encodings in the words of snpe-dlc-info."""

import pytest

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.reports.network.layer_text import count, dims, encoding_text, share


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (3999, "3k"), (999_999, "999k"), (353_800_000, "353M")],
)
def test_counts(number: int, text: str) -> None:
    assert count(number) == text


def test_shares_have_three_digits() -> None:
    assert share(353_000_000, 8_190_000_000) == "353M (4.31%)"
    assert share(3_000, 6_211_180) == "3k (0.0483%)"
    assert share(7, 7) == "7 (100%)"


def test_dims() -> None:
    assert (dims((1, 32, 32, 1)), dims(())) == ("1x32x32x1", "scalar")


def test_offsets_are_not_positive_and_zero_for_signed_codes() -> None:
    assert encoding_text(Encoding.from_range(-5.1, 5.1)) == (
        "min -5.120000000000, max 5.080000000000, delta 0.040000000000, "
        "offset -128.000000000000 bitwidth 8"
    )
    assert "offset 0.000000000000 bitwidth 4" in encoding_text(Encoding.symmetric_of(0.7, 4))


def test_an_axis_encoding_shows_the_range_of_its_channels() -> None:
    axis = AxisEncoding((Encoding.symmetric_of(1.27), Encoding.symmetric_of(2.54)))
    assert encoding_text(axis) == (
        "axis: last, num_elements: 2, min -2.560000000000, max 2.540000000000, "
        "delta 0.010000000000 to 0.020000000000, offset 0.000000000000 bitwidth 8"
    )
