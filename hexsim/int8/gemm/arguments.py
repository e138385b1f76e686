"""The arguments of kernels of matrix products, as records."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.record import record
from hexsim.lowering.lowered_call import Codes, Int32, Int64


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
