"""Convolution as plain loops, which any CPU runs."""

from __future__ import annotations

import numpy as np

from hexsim.binding.call import Int32, Int64
from hexsim.int8.machine_code.jit import template
from hexsim.int8.panel import SUM_BYTES
from hexsim.int8.prepared import Out
from hexsim.int8.products.padded import Int16
from hexsim.int8.requantise.scalar import requantise

_BLOCK = 96
"""Pixels for which a channel's weights are read once."""


@template(
    "void(int16[::1],int64[::1],int64[::1],int64,int64,int64,int64,int16[::1],"
    "int32[::1],int32[::1],int32[::1],int32,int32,{0}[::1],int64,int64,int64,int64)"
)
def convolve_plain(
    x: Int16,
    starts: Int64,
    offsets: Int64,
    run: int,
    groups: int,
    group_channels: int,
    columns: int,
    weights: Int16,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    low: int,
    high: int,
    out: Out,
    first_pixel: int,
    last_pixel: int,
    first_channel: int,
    last_channel: int,
) -> None:
    """Compute some pixels of some channels."""
    channels = groups * columns
    for block in range(first_pixel, last_pixel, _BLOCK):
        for channel in range(first_channel, last_channel):
            first = channel // columns * group_channels
            for pixel in range(block, min(block + _BLOCK, last_pixel)):
                total = preload[channel]
                for tap in range(offsets.size):
                    at = starts[pixel] + offsets[tap] + first
                    a = x[at : at + run]
                    at = (channel * offsets.size + tap) * run
                    b = weights[at : at + run]
                    partial = np.int32(0)
                    for k in range(run):
                        product = np.int32(np.int32(a[k]) * np.int32(b[k]))
                        partial = np.int32(partial + product)
                    total = np.int32(total + partial)
                if out.itemsize == SUM_BYTES:
                    out[pixel * channels + channel] = total
                else:
                    out[pixel * channels + channel] = requantise(
                        total, multiplier[channel], shift[channel], low, high
                    )
