"""Convolution as tiles of `inner_loops.product_tile`: one loop over pixels and panels of weights.

The activations' type selects the product: int16 distances from the zero point, or u8 codes. With
codes the weights are those of `gemm.panels`, whose zero point costs one sum of codes per pixel
(`gemm.code_sums`).

The kernels differ in the tile they call. Each is a function of its own, because compiled code is
cached by function and signature (`machine_code.cache`).
"""

from typing import Any

import numpy as np

from hexsim.int8.gemm.arguments import Packed, Piece
from hexsim.int8.gemm.padded import Padded
from hexsim.int8.machine_code.addresses import copy_bytes
from hexsim.int8.machine_code.inner_loops.product_tile import (
    STAGE_BYTES,
    convolve_channels_tile,
    convolve_guarded_tile,
    convolve_tile,
)
from hexsim.int8.machine_code.jit import inlined, template
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES
from hexsim.int8.prepared import Out
from hexsim.lowering.lowered_call import Codes, Int32

_BLOCK = 84
"""Pixels for which a panel of weights is read once (24 to 768 measured alike with 1 MB of L2); a
multiple of the rows of every tile."""

_STEP_WEIGHTS = STEP_BYTES * COLUMNS
"""Bytes of a panel's weights for one step."""

FIRST, TWOS, ONES, OFFSETS, INPUT, ADDENDS, COLUMN, REST, TOGETHER = range(9)
"""A panel's row of the table; `hexsim.int8.gemm.tiles.PanelTable` has the meanings."""


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
            first_weight = weights_at + _STEP_WEIGHTS * table[panel, FIRST]
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
