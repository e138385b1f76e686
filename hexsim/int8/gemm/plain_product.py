"""Convolution as plain loops, which any CPU runs."""

import numpy as np

from hexsim.int8.gemm.arguments import Piece, Windows
from hexsim.int8.gemm.padded import Int16
from hexsim.int8.machine_code.jit import template
from hexsim.int8.panel import SUM_BYTES
from hexsim.int8.prepared import Out
from hexsim.int8.requantize.constants import RequantizeStages
from hexsim.int8.requantize.scalar import requantize

_BLOCK = 96
"""Pixels for which a channel's weights are read once."""


@template("void(int16[::1],Windows,int16[::1],RequantizeStages,{0}[::1],Piece)")
def convolve_plain(
    x: Int16, windows: Windows, weights: Int16, stages: RequantizeStages, out: Out, piece: Piece
) -> None:
    """Compute some pixels of some channels."""
    starts, offsets, run, columns = windows.starts, windows.offsets, windows.run, windows.columns
    multiplier, shift, low, high = stages.multiplier, stages.shift, stages.low, stages.high
    preload = stages.preload
    channels, last_pixel = windows.groups * columns, piece.last_pixel
    for block in range(piece.first_pixel, last_pixel, _BLOCK):
        for channel in range(piece.first_panel, piece.last_panel):
            first = channel // columns * windows.group_channels
            for pixel in range(block, min(block + _BLOCK, last_pixel)):
                total = preload[channel]
                for tap in range(offsets.size):
                    start = starts[pixel] + offsets[tap] + first
                    a = x[start : start + run]
                    start = (channel * offsets.size + tap) * run
                    b = weights[start : start + run]
                    partial = np.int32(0)
                    for k in range(run):
                        product = np.int32(np.int32(a[k]) * np.int32(b[k]))
                        partial = np.int32(partial + product)
                    total = np.int32(total + partial)
                if out.itemsize == SUM_BYTES:
                    out[pixel * channels + channel] = total
                else:
                    out[pixel * channels + channel] = requantize(
                        total, multiplier[channel], shift[channel], low, high
                    )
