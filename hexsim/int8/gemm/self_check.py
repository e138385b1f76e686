"""Checks once per process that the CPU's 8-bit dot product is what the kernels expect."""

from functools import cache

import numpy as np

from hexsim.int8.machine_code.inner_loops.microkernel import multiply_tile, tile_of
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.machine_code.words import Words
from hexsim.int8.panel import COLUMNS, STEP_BYTES
from hexsim.lowering.lowered_call import Codes, Int64

_STEPS = 16


@cache
def dots_are_exact() -> bool:
    """Return whether a tile of u8 by s8 products, extremes included, has the sums it must have."""
    tile = tile_of(1)
    x = np.full((tile.rows, STEP_BYTES * _STEPS), 255, np.uint8)
    weights = np.full((tile.panels, _STEPS, COLUMNS, STEP_BYTES), -128, np.int8)
    x[1::2] = np.arange(x.shape[1]) * 37 % 256
    weights[:, :, 1::3] = 127
    weights[:, 1::2, ::4] = np.array([127, -128, -128, 127])
    sums = np.empty((tile.rows, tile.panels * COLUMNS), np.int32)
    _multiply(
        x.reshape(-1), Words([list(x)]).numbers, STEP_BYTES * np.arange(_STEPS),
        weights.view(np.uint8).reshape(-1), weights[0].nbytes, sums.reshape(-1),
    )  # fmt: skip
    matrix = weights.transpose(1, 3, 0, 2).reshape(x.shape[1], -1)
    return np.array_equal(sums, x.astype(np.int64) @ matrix.astype(np.int64))


@kernel("void(uint8[::1],int64[:,::1],int64[::1],uint8[::1],int64,int32[::1])")
def _multiply(
    x: Codes, rows: Int64, offsets: Int64, weights: Codes, panel_bytes: int, sums: Int64
) -> None:
    multiply_tile(
        x, rows.ctypes.data, offsets.ctypes.data, offsets.size, weights.ctypes.data,
        panel_bytes, sums.ctypes.data,
    )  # fmt: skip
