"""Convolution as tiles of `inner_loops.tiles`: one loop over pixels and panels of weights.

The activations' type selects the product: int16 distances from the zero point, or u8 codes, whose
weights are those of `gemm.panels`. The kernels differ in the tile they call; each is a function of
its own, because compiled code is cached by function and signature (`machine_code.jit`).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.gemm.arguments import LoopSettings, Packed, Padded, Piece
from hexsim.int8.machine_code.addresses import copy_bytes
from hexsim.int8.machine_code.inner_loops.microkernel import RegisterTile
from hexsim.int8.machine_code.inner_loops.tiles import (
    STAGE_BYTES,
    convolve_channels_tile,
    convolve_guarded_tile,
    convolve_tile,
)
from hexsim.int8.machine_code.jit import Template, inlined, template
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES, together
from hexsim.int8.step import FIRST, LAST, Out, Scratch, Step
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.requantize import Requantize
from hexsim.records import dataclass

_BLOCK = 84
"""Pixels for which a panel of weights is read once (24 to 768 measured alike with 1 MB of L2); a
multiple of the rows of every tile."""

_STEP_WEIGHTS = STEP_BYTES * COLUMNS
"""Bytes of a panel's weights for one step."""

FIRST_STEP, TWOS, ONES, OFFSETS, INPUT, ADDENDS, COLUMN, REST, TOGETHER = range(9)
"""A panel's row of the table; `hexsim.int8.gemm.tiled_product.PanelTable` has the meanings."""


@inlined
def _convolve(
    multiply: Any, x: Padded, packed: Packed, addends: Int32, out: Out, piece: Piece,
    scratch: Codes
) -> None:  # fmt: skip
    settings, table, last_panel = packed.settings, packed.table, piece.last_panel
    tile_rows, way = settings.tile_rows, settings.way
    low, high = settings.low, settings.high
    row_bytes = out.itemsize * out.shape[1]
    x_at, starts_at = x.ctypes.data, packed.starts.ctypes.data
    offsets_at, weights_at = packed.offsets.ctypes.data, packed.weights.ctypes.data
    constants_at = packed.constants.ctypes.data
    addends_at, out_at = addends.ctypes.data, out.ctypes.data
    scratch_at = np.int64(scratch.ctypes.data)  # signed as what follows from arithmetic
    for block in range(piece.first_pixel, piece.last_pixel, _BLOCK):
        end = min(block + _BLOCK, piece.last_pixel)
        panel = piece.first_panel
        while panel < last_panel:
            panels = min(table[panel, TOGETHER], last_panel - panel)
            line_bytes = out.itemsize * COLUMNS * panels
            used_bytes = min(line_bytes, out.itemsize * table[panel, REST])
            twos, ones = table[panel, TWOS], table[panel, ONES]
            panel_bytes = _STEP_WEIGHTS * (2 * twos + ones)
            first_x, first_offset = (
                x_at + table[panel, INPUT],
                offsets_at + 8 * table[panel, OFFSETS],
            )
            first_weight = weights_at + _STEP_WEIGHTS * table[panel, FIRST_STEP]
            first_out = out_at + out.itemsize * table[panel, COLUMN]
            for pixel in range(block, end, tile_rows):
                count = min(tile_rows, end - pixel)
                target, step = first_out + row_bytes * pixel, row_bytes
                addend = 0
                if addends.size:
                    addend = addends_at + SUM_BYTES * (table[panel, ADDENDS] + pixel)
                if used_bytes < line_bytes:
                    target, step = scratch_at, line_bytes
                multiply(
                    x, out, panels, first_x, starts_at + 8 * pixel, first_offset, twos, ones,
                    first_weight, panel_bytes, constants_at + STAGE_BYTES * panel, addend, way, low,
                    high, target, step, count,
                )  # fmt: skip
                if used_bytes < line_bytes:
                    target = first_out + row_bytes * pixel
                    for row in range(count):
                        copy_bytes(
                            scratch_at + line_bytes * row, target + row_bytes * row, used_bytes
                        )
            panel += panels


_SIGNATURE = "void({0}[::1],Packed,int32[::1],{1}[:,::1],Piece,uint8[::1])"


@template(_SIGNATURE)
def convolve_tiled(
    x: Padded, packed: Packed, addends: Int32, out: Out, piece: Piece, scratch: Codes
) -> None:
    """Compute some pixels of some panels; `scratch` is of the thread."""
    _convolve(convolve_tile, x, packed, addends, out, piece, scratch)


@template(_SIGNATURE)
def convolve_guarded(
    x: Padded, packed: Packed, addends: Int32, out: Out, piece: Piece, scratch: Codes
) -> None:
    """The same for guarded weights."""
    _convolve(convolve_guarded_tile, x, packed, addends, out, piece, scratch)


@template(_SIGNATURE)
def convolve_channels(
    x: Padded, packed: Packed, addends: Int32, out: Out, piece: Piece, scratch: Codes
) -> None:
    """The same for channels that are not summed."""
    _convolve(convolve_channels_tile, x, packed, addends, out, piece, scratch)


Column = Int64 | int
_FEW_PIXELS = 100
"""With at most this many pixels threads share out channels: fewer are not enough tiles to share
evenly. More are shared out as pixels, which leaves each thread what it wrote itself (40, 100 and
800 tried)."""


def pieces(
    pixels: int, panels: int, tile_rows: int, tile_panels: int = 1
) -> tuple[Piece, tuple[int, int]]:
    """Return a piece, and a step's rows and grain: pixels or panels, one or the other."""
    if pixels <= _FEW_PIXELS and panels > tile_panels:
        return Piece(0, pixels, FIRST, LAST), (panels, tile_panels)
    return Piece(FIRST, LAST, 0, panels), (pixels, tile_rows)


class PanelTable(NamedTuple):
    """What a kernel knows of each panel, an array or one number for all."""

    first_step: Column
    """Its first step among the packed weights."""
    twos: Column
    """How many pairs of steps are taken together."""
    ones: Column
    """How many steps are taken one by one."""
    offsets: Column
    """Index of the offset of its first step."""
    input: Column
    """Bytes to the first channel it reads."""
    addends: Column
    """Index of its group's first addend."""
    column: Column
    """Its first column of the output."""
    rest: Column
    """Columns from there to the end of its group."""

    def stacked(self, tile: RegisterTile) -> Int64:
        """The table as kernels read it, int64 (panels, fields).

        The last field is how many panels `tile` computes from there at once.
        """
        remaining = -(-np.atleast_1d(self.rest) // COLUMNS)
        at_once = [together(int(panels), tile.panels) for panels in remaining]
        return np.column_stack(np.broadcast_arrays(*self, at_once)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Tiles:
    """Packed weights, constants and a table of panels, and the kernel for them.

    `starts` has the bytes to each pixel's window, `offsets` those from there to each step. `table`
    is a `PanelTable`, stacked; `constants` is (panels, 3, COLUMNS): preloads, multipliers or
    factors, and shifts; `way` tells which.
    """

    kernel: Template
    tile: RegisterTile
    starts: Int64
    offsets: Int64
    table: Int64
    weights: npt.NDArray[Any]
    constants: Int32
    way: int
    stage: Requantize

    def step(self, x: Padded, addends: Int32, output: Out) -> Step:
        """Return the step that computes `output` of activations `x`.

        `addends` is int32 (groups * pixels), with room for a tile's rows behind, or empty; see
        `gemm.convolution`.
        """
        tile, stage, pixels = self.tile, self.stage, self.starts.size
        out = output.reshape(pixels, -1)
        piece, rows = pieces(pixels, len(self.table), tile.rows, tile.panels)
        starts = np.append(self.starts, np.repeat(self.starts[-1:], tile.rows - 1))
        settings = LoopSettings(self.way, stage.low, stage.high, tile.rows)
        weights = self.weights.view(np.uint8)
        packed = Packed(starts, self.offsets, self.table, weights, self.constants, settings)
        line = Scratch(tile.rows * tile.panels * COLUMNS * out.itemsize, np.uint8)
        arguments = (x, packed, addends, out, piece, line)
        return Step(self.kernel(x.dtype, out.dtype), arguments, *rows)
