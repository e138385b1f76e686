"""Weights as the micro-kernel reads them: panels of COLUMNS channels, step by step.

8-bit products multiply codes by signed weights; with x the code, z_x its zero point, and weights w
of zero point z_w, both less 128 if the weights are unsigned,

    sum of (x - z_x) * (w - z_w) = sum of x * w - z_w * sum of x - z_x * sum of (w - z_w)

The last term is a constant of the channel and goes into the preload; the one before it is zero for
symmetric weights and otherwise one number per pixel.

For CPUs that add two products of bytes in 16 bits, weights are packed so that sums of two products,
and of two such sums, fit. With activations of 0 .. 255 they do if neither the negative nor the
positive weights of a sum exceed 128: 255 * 128 = 32640. Of a step's four weights, the first two are
added and the last two. A step that exceeds it in any channel of its panel is split into two, with
a = w >> 1 and w - a of at most 64, and its activations are multiplied twice. Then steps are paired,
the heaviest with the lightest with which it stays within the bound. So steps are in no particular
order, and every panel has its own list of offsets.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.panel import COLUMNS, STEP_BYTES
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.source import Weights
from hexsim.records import dataclass
from hexsim.threads import spread

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


BOUND = 128
_LOADS = 4 * COLUMNS
"""Positive and negative sums of both halves of a step, for each channel."""
_TRIED = 24
"""How many of the lightest steps that remain are tried for a pair (99 % of those of Gaussian
weights)."""

PAIRED, _SINGLE = 5, 3
"""Instructions for LANES channels: two steps together, and one alone (`microkernel`)."""
LANES = 8
"""Channels of a vector of sums."""


@dataclass(frozen=True)
class GuardedPanels:
    """`weights` is flat int8 (steps, COLUMNS, STEP_BYTES); `offsets` has an entry for each step.

    `table` has a row for each panel: its first step, pairs of steps, single steps.
    """

    weights: npt.NDArray[np.int8]
    offsets: Int64
    table: Int64
    plain_steps: int

    @property
    def instructions(self) -> float:
        """Return the instructions for a step as it was before packing, of LANES channels."""
        twos, ones = self.table[:, 1].sum(), self.table[:, 2].sum()
        return float((PAIRED * twos + _SINGLE * ones) / self.plain_steps)


def pack_guarded(panels: npt.NDArray[np.int8], offsets: Int64, steps: int) -> GuardedPanels:
    """Pack what `hexsim.int8.gemm.panels.pack_panels` made of runs of `steps` at `offsets`."""
    per_panel = len(offsets) * steps
    plain = panels.reshape(-1, per_panel, COLUMNS, STEP_BYTES)
    count = len(plain)
    step_offsets = (offsets[:, np.newaxis] + STEP_BYTES * np.arange(steps)).reshape(-1)
    weights = np.empty((2 * count * per_panel, COLUMNS, STEP_BYTES), np.int8)
    part_offsets = np.empty(2 * count * per_panel, np.int64)
    table = np.empty((count, 3), np.int64)
    used = 0
    parts = np.empty((2 * per_panel, COLUMNS, STEP_BYTES), np.int8)
    loads = np.empty((2 * per_panel, _LOADS), np.int32)
    source, order = np.empty(2 * per_panel, np.int64), np.empty(2 * per_panel, np.int64)
    counts = np.empty(2, np.int64)
    for panel in range(count):
        _split(plain[panel], parts, loads, source, counts)
        part_count = int(counts[0])
        by_load = np.argsort(loads[:part_count].max(axis=1), kind="stable")
        _pair(loads, by_load, order, np.zeros(part_count, np.uint8), counts)
        chosen = order[:part_count]
        weights[used : used + part_count] = parts[chosen]
        part_offsets[used : used + part_count] = step_offsets[source[chosen]]
        table[panel] = used, counts[1], part_count - 2 * counts[1]
        used += part_count
    return GuardedPanels(
        weights[:used].reshape(-1).copy(), part_offsets[:used].copy(), table, count * per_panel
    )


@kernel("void(int8[:,:,::1],int8[:,:,::1],int32[:,::1],int64[::1],int64[::1])")
def _split(
    plain: npt.NDArray[np.int8],
    parts: npt.NDArray[np.int8],
    loads: Int32,
    source: Int64,
    counts: Int64,
) -> None:
    filled = 0
    for step in range(plain.shape[0]):
        for part in range(3):  # as it is; else both halves
            heaviest = np.int64(0)
            for column in range(COLUMNS):
                for half in range(2):
                    positive, negative = np.int64(0), np.int64(0)
                    for k in range(2 * half, 2 * half + 2):
                        weight = np.int64(plain[step, column, k])
                        if part == 1:
                            weight = weight >> 1
                        if part == 2:
                            weight = weight - (weight >> 1)
                        parts[filled, column, k] = weight
                        positive += max(weight, np.int64(0))
                        negative -= min(weight, np.int64(0))
                    at = 4 * column + 2 * half
                    loads[filled, at] = positive
                    loads[filled, at + 1] = negative
                    heaviest = max(heaviest, positive, negative)
            source[filled] = step
            if part > 0 or heaviest <= BOUND:
                filled += 1
            if part == 0 and heaviest <= BOUND:
                break
    counts[0] = filled


@kernel("void(int32[:,::1],int64[::1],int64[::1],uint8[::1],int64[::1])")
def _pair(loads: Int32, by_load: Int64, order: Int64, used: Codes, counts: Int64) -> None:
    twos, single = 0, by_load.size
    lightest = 0
    for position in range(by_load.size - 1, -1, -1):
        heavy = by_load[position]
        if used[position]:
            continue
        used[position] = 1
        while lightest < by_load.size and used[lightest]:
            lightest += 1
        partner = -1
        tried = 0
        for candidate in range(lightest, position):
            if used[candidate]:
                continue
            fits = True
            for k in range(loads.shape[1]):
                fits &= loads[heavy, k] + loads[by_load[candidate], k] <= BOUND
            tried += 1
            if fits:
                partner = candidate
                break
            if tried == _TRIED:
                break
        if partner < 0:
            single -= 1
            order[single] = heavy
        else:
            used[partner] = 1
            order[2 * twos] = heavy
            order[2 * twos + 1] = by_load[partner]
            twos += 1
    counts[1] = twos
