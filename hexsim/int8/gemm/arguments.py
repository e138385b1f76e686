"""The arguments of kernels of matrix products, as records.

The activations a convolution reads: padded, so that no kernel has a border case.

Kernels of 16-bit products read a copy widened to int16 with the zero point subtracted, in which
padding is zero. Kernels of 8-bit products read the codes, in which padding is the zero point; its
contribution to every sum is a constant of the layer. Codes without padding are read where they are.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.jit import template
from hexsim.int8.step import ROWS, Step, Workspace
from hexsim.layers import Window
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.records import dataclass


@record("int64[::1],int64[::1],int64,int64,int64,int64")
class Windows(NamedTuple):
    """Windows as runs of consecutive elements of flat activations.

    `starts` has the first element of each pixel's window, `offsets` the elements from there to each
    run of `run` elements. A group has `group_channels` of the input and `columns` of the output.
    """

    starts: Int64
    offsets: Int64
    run: int
    groups: int
    group_channels: int
    columns: int


@record("int64,int64,int64,int64")
class Piece(NamedTuple):
    """The pixels that are computed, and the channels or panels of channels.

    All are numbers; in a step, two of them are FIRST and LAST.
    """

    first_pixel: Any
    last_pixel: Any
    first_panel: Any
    last_panel: Any


@record("int64,int64,int64,int64")
class LoopSettings(NamedTuple):
    """The way of requantising (`constants.row_stage`), the limits of codes, pixels of a tile."""

    way: int
    low: int
    high: int
    tile_rows: int


@record("int64[::1],int64[::1],int64[:,::1],uint8[::1],int32[::1],LoopSettings")
class Packed(NamedTuple):
    """A convolution as a kernel of tiles reads it; `gemm.tiles.Tiles` has the meanings."""

    starts: Int64
    offsets: Int64
    table: Int64
    weights: Codes
    constants: Int32
    settings: LoopSettings


@record("int64[::1],int64[::1],int16[::1]")
class Taps(NamedTuple):
    """The first element of each pixel's window, each tap's offset, and weights (taps, channels)."""

    starts: Int64
    offsets: Int64
    weights: npt.NDArray[np.int16]


Int16 = npt.NDArray[np.int16]
Padded = npt.NDArray[np.int16] | npt.NDArray[np.uint8]

SLACK = 15
"""Elements behind the last pixel that a kernel may read (and multiplies by zero, or not use)."""


@dataclass(frozen=True)
class PaddedInput:
    """An NHWC input padded for one window, as int16 distances from the zero point or u8 codes.

    The height and width of a copy are what the windows reach: input behind the last window is left
    out. `slack` says that the kernel reads up to SLACK elements behind its last pixel, for which
    there must be a copy.
    """

    shape: Shape
    window: Window
    zero_point: int
    dtype: Literal["int16", "uint8"] = "int16"
    slack: bool = True

    @property
    def in_place(self) -> bool:
        """Return whether the input is read where it is."""
        padded = any(self.window.pads[:2]) or any(
            reached > size for reached, size in zip(self._reached, self.shape[1:3], strict=True)
        )
        return self.dtype == "uint8" and not self.slack and not padded

    @property
    def _reached(self) -> tuple[int, int]:
        rows, columns = (
            (size - 1) * stride + reach
            for size, stride, reach in zip(
                self.output_size, self.window.strides, self.window.reach, strict=True
            )
        )
        return rows, columns

    @property
    def output_size(self) -> tuple[int, int]:
        """Return the (height, width) of the output."""
        return self.window.output_size(self.shape[1], self.shape[2])

    @property
    def height(self) -> int:
        """Return the rows of the array that is read."""
        return self.shape[1] if self.in_place else self._reached[0]

    @property
    def width(self) -> int:
        """Return the columns of the array that is read."""
        return self.shape[2] if self.in_place else self._reached[1]

    def starts(self) -> Int64:
        """Return the element at which each output pixel's window begins, shape (N*H'*W',)."""
        batch, channels = self.shape[0], self.shape[3]
        rows, columns = self.output_size
        image = np.arange(batch).reshape(-1, 1, 1) * self.height
        row = np.arange(rows).reshape(-1, 1) * self.window.strides[0]
        column = np.arange(columns) * self.window.strides[1]
        starts = ((image + row) * self.width + column) * channels
        return starts.astype(np.int64).reshape(-1)

    def tap_offsets(self) -> Int64:
        """Return the elements from a window's start to each tap, shape (kernel height, width)."""
        row = np.arange(self.window.kernel[0]).reshape(-1, 1) * self.window.dilations[0]
        column = np.arange(self.window.kernel[1]) * self.window.dilations[1]
        return ((row * self.width + column) * self.shape[3]).astype(np.int64)

    def copied(self, codes: Codes, workspace: Workspace) -> tuple[Padded, list[Step]]:
        """Return the flat array that is read for `codes`, and the steps that fill it.

        `codes` has the shape `shape`. A copy has SLACK zeros behind it.
        """
        if self.in_place:
            return codes.reshape(-1), []
        batch, height, width, channels = self.shape
        kind = np.dtype(self.dtype)
        copy = workspace.empty(batch * self.height * self.width * channels + SLACK, kind)
        widened = kind.itemsize > 1
        subtracted, padding = (self.zero_point, 0) if widened else (0, self.zero_point)
        place = PaddedPlace(
            batch, height, width, channels, subtracted, padding, *self.window.pads[:2], self.height,
            self.width,
        )  # fmt: skip
        arguments = (codes.reshape(-1), place, copy, *ROWS)
        return copy, [Step(_pad(kind), arguments, rows=batch * self.height)]


@record(",".join(["int64"] * 10))
class PaddedPlace(NamedTuple):
    """Sizes of an input, the change of its codes, and where they lie in a padded copy."""

    batch: int
    height: int
    width: int
    channels: int
    subtracted: int
    padding: int
    top: int
    left: int
    padded_height: int
    padded_width: int


@template("void(uint8[::1],PaddedPlace,{0}[::1],int64,int64)")
def _pad(codes: Codes, place: PaddedPlace, copy: Padded, first: int, last: int) -> None:
    height, width, channels, top = place.height, place.width, place.channels, place.top
    padded_height, padded_width, padding = place.padded_height, place.padded_width, place.padding
    zero = np.int16(place.subtracted)
    row_elements = min(width, padded_width - place.left) * channels
    before = place.left * channels
    copy_elements = padded_width * channels
    for copy_row in range(first, last):
        image = copy_row // padded_height
        y = copy_row - image * padded_height
        target = copy_row * copy_elements
        if y < top or y >= top + height:
            copy[target : target + copy_elements] = padding
            continue
        source = (image * height + y - top) * width * channels
        copy[target : target + before] = padding
        pixels = codes[source : source + row_elements]
        row = copy[target + before : target + before + row_elements]
        for i in range(row_elements):
            row[i] = np.int16(pixels[i]) - zero
        copy[target + before + row_elements : target + copy_elements] = padding
    if last == place.batch * padded_height:
        copy[last * copy_elements :] = 0
