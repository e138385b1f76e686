"""Depthwise convolution as tiles of `hexsim.int8.depthwise_tile`."""

from __future__ import annotations

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.int8.depthwise_tile import CHANNELS, ORDER, PIXELS, multiply_channels
from hexsim.int8.jit import template
from hexsim.int8.padded import Int16, Int64
from hexsim.int8.panel_output import store_panel
from hexsim.int8.prepared import SUM_BYTES, Out

_BLOCK = 64
"""Pixels for which the channels' weights are read once: their activations stay in the L1 cache."""


def pack(weights: Int16) -> Int16:
    """(taps, channels) -> flat (groups of CHANNELS, pairs of taps, CHANNELS in ORDER, 2)."""
    taps, channels = weights.shape
    pairs, groups = -(-taps // 2), -(-channels // CHANNELS)
    whole = np.zeros((2 * pairs, groups * CHANNELS), np.int16)
    whole[:taps, :channels] = weights
    split = whole.reshape(pairs, 2, groups, CHANNELS)[..., list(ORDER)]
    return np.ascontiguousarray(split.transpose(2, 0, 3, 1)).reshape(-1)


@template(
    "void(int16[::1],int64[::1],int64[::1],int64,int16[::1],int32[::1],int32[::1],int32[::1],"
    "int64,int32,int32,{0}[::1],int64,int64,int64[::1],int32[::1],int32[::1],uint8[::1])"
)
def depthwise_tiled(
    x: Int16,
    starts: Int64,
    offsets: Int64,
    channels: int,
    weights: Int16,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    shifts: int,
    low: int,
    high: int,
    out: Out,
    first_pixel: int,
    last_pixel: int,
    rows: Int64,
    addends: Int32,
    tile: Int32,
    codes: Codes,
) -> None:
    """Compute some pixels of all channels; `rows` to `codes` are scratch of the thread."""
    pairs = offsets.size // 2
    addends[:] = 0
    x_at, weights_at, rows_at = x.ctypes.data, weights.ctypes.data, rows.ctypes.data
    tile_at, addends_at, scratch_at = tile.ctypes.data, addends.ctypes.data, codes.ctypes.data
    preload_at, multiplier_at = preload.ctypes.data, multiplier.ctypes.data
    shift_at, out_at, offsets_at = shift.ctypes.data, out.ctypes.data, offsets.ctypes.data
    for block in range(first_pixel, last_pixel, _BLOCK):
        end = min(block + _BLOCK, last_pixel)
        for channel in range(0, channels, CHANNELS):
            valid = min(CHANNELS, channels - channel)
            base = x_at + x.itemsize * channel
            for pixel in range(block, end, PIXELS):
                for row in range(PIXELS):
                    rows[row] = base + x.itemsize * starts[min(pixel + row, end - 1)]
                multiply_channels(
                    rows_at, offsets_at, pairs, weights_at + x.itemsize * 2 * pairs * channel,
                    tile_at,
                )  # fmt: skip
                constants = SUM_BYTES * channel
                to = out_at + out.itemsize * (pixel * channels + channel)
                store_panel(
                    min(PIXELS, end - pixel), tile_at, SUM_BYTES * CHANNELS, addends_at,
                    preload_at + constants, multiplier_at + constants, shift_at + constants,
                    shifts, low, high, scratch_at, to, channels, valid,
                    out.itemsize,
                )  # fmt: skip
