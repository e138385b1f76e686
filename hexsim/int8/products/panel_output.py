"""What becomes of a tile of sums: codes, or the sums themselves, in the rows of the output."""

from __future__ import annotations

import numpy as np

from hexsim.int8.machine_code.addresses import copy_bytes, load_int32, store_int32
from hexsim.int8.machine_code.inner_loops.requantise_rows import requantise_rows
from hexsim.int8.machine_code.jit import inlined
from hexsim.int8.panel import COLUMNS, SUM_BYTES


@inlined
def store_panel(
    count: int,
    sums: int,
    sums_step: int,
    addends: int,
    preload: int,
    multiplier: int,
    shift: int,
    shifts: int,
    low: int,
    high: int,
    scratch: int,
    out: int,
    channels: int,
    valid: int,
    item_bytes: int,
) -> None:
    """Store `count` rows of `valid` channels at address `out`, `channels` elements apart.

    The arguments before that are those of `requantise_rows`; `scratch` is the address of as many
    codes as a tile has, for a panel partly used. The output has elements of `item_bytes`.
    """
    if item_bytes == SUM_BYTES:
        for row in range(count):
            addend = load_int32(addends + SUM_BYTES * row)
            for i in range(valid):
                total = np.int32(load_int32(sums + row * sums_step + SUM_BYTES * i) + addend)
                total = np.int32(total + load_int32(preload + SUM_BYTES * i))
                store_int32(out + SUM_BYTES * (row * channels + i), total)
    elif valid == COLUMNS:
        requantise_rows(
            count, sums, sums_step, addends, preload, multiplier, shift, shifts, low, high,
            out, channels,
        )  # fmt: skip
    else:
        requantise_rows(
            count, sums, sums_step, addends, preload, multiplier, shift, shifts, low, high,
            scratch, COLUMNS,
        )  # fmt: skip
        for row in range(count):
            copy_bytes(scratch + row * COLUMNS, out + row * channels, valid)
