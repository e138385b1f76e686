"""Checks once per process that the CPU's 8-bit dot product is what the kernels expect.

Checks once that the CPU's product of 16-bit pairs is what Winograd's kernels expect.
"""

from functools import cache

import numpy as np

from hexsim.int8.gemm.arguments import Int16
from hexsim.int8.machine_code.arguments import Words
from hexsim.int8.machine_code.inner_loops.microkernel import multiply_tile, tile_of
from hexsim.int8.machine_code.inner_loops.winograd import multiply_point, pair_tile
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.panel import COLUMNS, STEP_BYTES
from hexsim.lowering.lowered_call import Codes, Int32, Int64

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


@cache
def pairs_are_exact() -> bool:
    """Return whether a tile of int16 products, extremes included, has the sums it must have."""
    tile = pair_tile()
    x = np.full((tile.rows, 2 * _STEPS), -25500, np.int16)
    weights = np.full((tile.panels, _STEPS, COLUMNS, 2), 12495, np.int16)
    x[1::2] = np.arange(x.shape[1]) * 1601 % 51001 - 25500
    weights[:, :, 1::3] = -12495
    weights[:, 1::2, ::4] = np.array([12495, -12495])
    sums = np.empty((tile.rows, tile.panels * COLUMNS), np.int32)
    _multiply_pairs(
        x.reshape(-1), x[0].nbytes, _STEPS, weights.view(np.uint8).reshape(-1), weights[0].nbytes,
        sums.reshape(-1),
    )  # fmt: skip
    matrix = weights.transpose(1, 3, 0, 2).reshape(x.shape[1], -1)
    exact = x.astype(np.int64) @ matrix.astype(np.int64)
    return np.array_equal(sums, exact.astype(np.int32))  # both modulo 2^32


@kernel("void(int16[::1],int64,int64,uint8[::1],int64,int32[::1])")
def _multiply_pairs(
    x: Int16, row_bytes: int, steps: int, weights: Codes, panel_bytes: int, sums: Int32
) -> None:
    multiply_point(
        x.ctypes.data, row_bytes, steps, weights.ctypes.data, panel_bytes, sums.ctypes.data
    )
