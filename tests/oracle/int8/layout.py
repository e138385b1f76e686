"""The d32 layout: slices of 32 channels, rows of whole vectors of four pixels."""

import numpy as np

DEPTH_SLICE = 32


def up(size, multiple):
    """Least multiple that holds `size`."""
    return -(-size // multiple) * multiple


def depth_slices(pixels, rows, columns, begin, padding):
    """(height, width, channels) as [slice][rows][columns][32], filled up with code `padding`.

    `begin` is how many (rows, columns) of padding precede the pixels.
    """
    channels = pixels.shape[-1]
    full = np.full((rows, columns, up(channels, DEPTH_SLICE)), padding, np.uint8)
    inside = pixels[: rows - begin[0], : columns - begin[1]]
    full[
        begin[0] : begin[0] + inside.shape[0], begin[1] : begin[1] + inside.shape[1], :channels
    ] = inside
    return full.reshape(rows, columns, -1, DEPTH_SLICE).transpose(2, 0, 1, 3)


def pixels(data, rows, columns, channels):
    """The inverse for a result: its first `columns` and `channels`, (rows, columns, channels)."""
    stored = np.frombuffer(data, np.uint8).reshape(
        up(channels, DEPTH_SLICE) // DEPTH_SLICE, rows, -1, DEPTH_SLICE
    )
    return stored.transpose(1, 2, 0, 3).reshape(rows, stored.shape[2], -1)[:, :columns, :channels]


def lanes(values, fill):
    """One int32 per channel, channels filled up to whole slices."""
    full = np.full(up(len(values), DEPTH_SLICE), fill, np.int32)
    full[: len(values)] = values
    return full


def wrapped(values):
    """Modulo 2^32, as int32."""
    return np.asarray(values, np.int64).astype(np.uint64).astype(np.uint32).astype(np.int32)
