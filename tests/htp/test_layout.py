"""Croutons: what a tensor takes in VTCM."""

from __future__ import annotations

from hexsim.htp.layout import as_image, crouton_bytes, padded_pixels, stored_bytes


def test_a_crouton_is_two_kilobytes_in_either_width() -> None:
    """8 x 8 pixels of 32 channels in 8 bits, 8 x 4 in 16."""
    assert crouton_bytes((1, 8, 8, 32), 8) == 2048
    assert crouton_bytes((1, 8, 4, 32), 16) == 2048


def test_rows_columns_and_channels_are_filled_up() -> None:
    """One more of any takes another crouton."""
    assert crouton_bytes((1, 9, 8, 32), 8) == 4096
    assert crouton_bytes((1, 8, 9, 32), 8) == 4096
    assert crouton_bytes((1, 8, 8, 33), 8) == 4096
    assert padded_pixels((1, 7, 7, 2048), 8) == 64
    assert padded_pixels((1, 7, 7, 2048), 16) == 64


def test_a_shallow_image_is_kept_flat() -> None:
    """Up to four channels; with five it is in croutons."""
    assert stored_bytes((1, 16, 16, 3), 8) == 768
    assert stored_bytes((1, 16, 16, 5), 8) == crouton_bytes((1, 16, 16, 5), 8) == 8192


def test_what_is_no_image_is_a_row_of_pixels() -> None:
    """The last axis is that of the channels."""
    assert as_image((1, 8400, 80)) == (1, 1, 8400, 80)
    assert as_image((1, 1000)) == (1, 1, 1, 1000)
    assert as_image(()) == (1, 1, 1, 1)


def test_matrices_of_few_rows_share_a_crouton() -> None:
    """Eight heads of one token lie beside each other; matrices of many rows fill croutons alone."""
    assert padded_pixels((1, 32, 1, 1, 4096), 16) == 32 * 4
    assert padded_pixels((1, 32, 1, 1, 4096), 8) == 32 * 8
    assert padded_pixels((1, 9, 1, 3, 64), 16) == 16 * 4
    assert padded_pixels((12, 197, 64), 8) == 12 * 256
    for rows in (32, 128):
        assert padded_pixels((8, rows, 64), 16) == 8 * rows
