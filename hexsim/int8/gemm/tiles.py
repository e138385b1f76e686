"""A convolution as a kernel of `gemm.tiled_product` reads it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.gemm.arguments import LoopSettings, Packed, Piece
from hexsim.int8.gemm.padded import Padded
from hexsim.int8.machine_code.inner_loops.microkernel import RegisterTile
from hexsim.int8.machine_code.jit import Template
from hexsim.int8.panel import COLUMNS, together
from hexsim.int8.prepared import Out
from hexsim.int8.step import FIRST, LAST, Scratch, Step
from hexsim.lowering.lowered_call import Int32, Int64
from hexsim.lowering.requantize import Requantize

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

    first: Column
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
        `gemm.code_sums`.
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
