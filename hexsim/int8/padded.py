"""The activations a convolution reads: widened to int16, zero point taken out, padded with zeros.

After this one pass no kernel needs a zero point or a border case: padding is real zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Codes
from hexsim.graph.ir import Shape
from hexsim.int8.jit import kernel
from hexsim.int8.step import FIRST, LAST, Step, Workspace
from hexsim.layers import Window

Int16 = npt.NDArray[np.int16]
Int64 = npt.NDArray[np.int64]

SLACK = 2
"""Elements behind the last pixel that a kernel may read (and multiplies by zero)."""


@dataclass(frozen=True)
class PaddedInput:
    """The padded copy of an NHWC input for one window.

    `height` and `width` are what the windows reach: input behind the last window is left out.
    """

    shape: Shape
    window: Window
    zero_point: int

    @property
    def output_size(self) -> tuple[int, int]:
        """(height, width) of the output."""
        return self.window.output_size(self.shape[1], self.shape[2])

    @property
    def height(self) -> int:
        """Rows of the copy."""
        return (self.output_size[0] - 1) * self.window.strides[0] + self.window.reach[0]

    @property
    def width(self) -> int:
        """Columns of the copy."""
        return (self.output_size[1] - 1) * self.window.strides[1] + self.window.reach[1]

    def starts(self) -> Int64:
        """Element of the copy at which each output pixel's window begins, shape (N*H'*W',)."""
        batch, channels = self.shape[0], self.shape[3]
        rows, columns = self.output_size
        image = np.arange(batch).reshape(-1, 1, 1) * self.height
        row = np.arange(rows).reshape(-1, 1) * self.window.strides[0]
        column = np.arange(columns) * self.window.strides[1]
        starts = ((image + row) * self.width + column) * channels
        return starts.astype(np.int64).reshape(-1)

    def tap_offsets(self) -> Int64:
        """Elements from a window's start to each of its taps, shape (kernel height, width)."""
        row = np.arange(self.window.kernel[0]).reshape(-1, 1) * self.window.dilations[0]
        column = np.arange(self.window.kernel[1]) * self.window.dilations[1]
        return ((row * self.width + column) * self.shape[3]).astype(np.int64)

    def copied(self, codes: Codes, workspace: Workspace) -> tuple[Int16, Step]:
        """Return the copy of `codes` (shape `shape`), flat, and the step that fills it.

        SLACK behind the last pixel is zero.
        """
        batch, height, width, channels = self.shape
        copy = workspace.empty(batch * self.height * self.width * channels + SLACK, np.int16)
        top, left = self.window.pads[:2]
        arguments = (
            codes.reshape(-1), batch, height, width, channels, self.zero_point,
            top, left, self.height, self.width, copy, FIRST, LAST,
        )  # fmt: skip
        return copy, Step(_widen, arguments, rows=batch * self.height)


@kernel(
    "void(uint8[::1],int64,int64,int64,int64,int64,int64,int64,int64,int64,int16[::1],int64,int64)"
)
def _widen(
    codes: Codes,
    batch: int,
    height: int,
    width: int,
    channels: int,
    zero_point: int,
    top: int,
    left: int,
    padded_height: int,
    padded_width: int,
    copy: Int16,
    first: int,
    last: int,
) -> None:
    zero = np.int16(zero_point)
    kept = min(width, padded_width - left) * channels
    before = left * channels
    line = padded_width * channels
    for row in range(first, last):
        image = row // padded_height
        y = row - image * padded_height
        to = row * line
        if y < top or y >= top + height:
            copy[to : to + line] = 0
            continue
        source = (image * height + y - top) * width * channels
        copy[to : to + before] = 0
        pixels = codes[source : source + kept]
        wide = copy[to + before : to + before + kept]
        for i in range(kept):
            wide[i] = np.int16(pixels[i]) - zero
        copy[to + before + kept : to + line] = 0
    if last == batch * padded_height:
        copy[last * line :] = 0
