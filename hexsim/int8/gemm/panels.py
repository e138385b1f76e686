"""Weights as the micro-kernel reads them: panels of COLUMNS channels, step by step.

8-bit products multiply codes by signed weights; with x the code, z_x its zero point, and weights w
of zero point z_w, both less 128 if the weights are unsigned,

    sum of (x - z_x) * (w - z_w) = sum of x * w - z_w * sum of x - z_x * sum of (w - z_w)

The last term is a constant of the channel and goes into the preload. The one before it is zero for
symmetric weights and otherwise one number per pixel.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.int8.panel import COLUMNS, STEP_BYTES
from hexsim.lowering.lowered_call import Int32
from hexsim.lowering.weights import Weights
from hexsim.threads.cores import spread

Int8 = npt.NDArray[np.int8]
Steps = npt.NDArray[np.signedinteger[Any]]
Matrix = npt.NDArray[np.integer[Any]]
"""Weights before they are packed: codes, signed or not, or distances from a zero point."""

_U8_TO_S8 = 128
_BLOCK = 1 << 20
"""Bytes that are packed at once, which then are in the cache."""


def signed_zero(weights: Weights) -> int:
    """Return the zero point of 8-bit weights as `pack_panels` leaves them."""
    return weights.zero_point - _U8_TO_S8 * (weights.codes.dtype == np.uint8)


def less_codes_zero(preload: Int32, weights: Matrix, weight_zero: int, zero_point: int) -> Int32:
    """Return the preload with which codes are multiplied instead of distances from `zero_point`."""
    depth = weights.size // weights.shape[-1]
    sums = weights.reshape(depth, -1).sum(axis=0, dtype=np.int64) - depth * weight_zero
    moved: Int32 = (preload - zero_point * sums).astype(np.int32)  # modulo 2^32
    return moved


def pack_panels(weights: Matrix) -> Steps:
    """Pack (runs, run, groups, columns) as flat (groups, panels, runs, steps, COLUMNS, step).

    Unsigned weights become signed, less 128.
    """
    flip = weights.dtype.type(_U8_TO_S8 if weights.dtype == np.uint8 else 0)
    step = STEP_BYTES // weights.itemsize
    runs, run, groups, columns = weights.shape
    full, rest = divmod(columns, COLUMNS)
    steps, panels = -(-run // step), full + (rest > 0)
    packed = np.zeros((groups, panels, runs, steps, COLUMNS, step), weights.dtype)
    by_step = packed.transpose(2, 3, 0, 1, 4, 5)

    def pack(part: slice) -> None:
        block = weights[:, step * part.start : step * part.stop] ^ flip
        for position in range(step):
            rows = block[:, position::step]
            target = by_step[:, part.start : part.start + rows.shape[1], ..., position]
            target[:, :, :, :full] = rows[..., : columns - rest].reshape(
                *rows.shape[:3], full, COLUMNS
            )
            if rest:
                target[:, :, :, full, :rest] = rows[..., columns - rest :]

    spread(pack, steps, max(1, _BLOCK // (runs * groups * columns * STEP_BYTES)))
    return packed.reshape(-1).view(f"i{weights.itemsize}")


def pad_to_panels(per_channel: Int32, groups: int) -> Int32:
    """Return numbers (channels,) as flat (groups, panels, COLUMNS), unused columns zero."""
    columns = per_channel.size // groups
    padded = np.zeros((groups, -(-columns // COLUMNS) * COLUMNS), np.int32)
    padded[:, :columns] = per_channel.reshape(groups, columns)
    return padded.reshape(-1)


def panel_constants(constants: Sequence[Int32], groups: int) -> Int32:
    """Return arrays (channels,) as flat (groups, panels, arrays, COLUMNS), unused columns zero."""
    padded = [pad_to_panels(constant, groups).reshape(-1, 1, COLUMNS) for constant in constants]
    return np.concatenate(padded, axis=1).reshape(-1)
