"""Stores a tile of sums in the rows of the output, as codes or as the sums themselves."""

from typing import NamedTuple

import numpy as np

from hexsim.int8.machine_code.addresses import copy_bytes, load_int32, store_int32
from hexsim.int8.machine_code.inner_loops.requantize import requantize_rows
from hexsim.int8.machine_code.jit import inlined
from hexsim.int8.panel import COLUMNS, SUM_BYTES


class Sums(NamedTuple):
    """Addresses of rows of sums, `step` bytes apart, and of the addend of each."""

    at: int
    step: int
    addends: int


class PanelStage(NamedTuple):
    """Addresses of a panel's constants, way of requantising (`constants.row_stage`), and limits."""

    preload: int
    multiplier: int
    shift: int
    way: int
    low: int
    high: int


class Destination(NamedTuple):
    """Rows of `valid` channels of an output, the first at address `at`, `channels` elements apart.

    `spare` is the address of as many codes as a tile has, for a panel partly used.
    """

    at: int
    channels: int
    valid: int
    item_bytes: int
    spare: int


@inlined
def store_panel(count: int, sums: Sums, stage: PanelStage, destination: Destination) -> None:
    """Store `count` rows of codes or sums."""
    valid, channels = destination.valid, destination.channels
    if destination.item_bytes == SUM_BYTES:
        for row in range(count):
            addend = load_int32(sums.addends + SUM_BYTES * row)
            for i in range(valid):
                total = np.int32(load_int32(sums.at + row * sums.step + SUM_BYTES * i) + addend)
                total = np.int32(total + load_int32(stage.preload + SUM_BYTES * i))
                store_int32(destination.at + SUM_BYTES * (row * channels + i), total)
    elif valid == COLUMNS:
        _requantize(count, sums, stage, destination.at, channels)
    else:
        _requantize(count, sums, stage, destination.spare, COLUMNS)
        for row in range(count):
            copy_bytes(destination.spare + row * COLUMNS, destination.at + row * channels, valid)


@inlined
def _requantize(count: int, sums: Sums, stage: PanelStage, target: int, step: int) -> None:
    requantize_rows(
        count, sums.at, sums.step, sums.addends, stage.preload, stage.multiplier, stage.shift,
        stage.way, stage.low, stage.high, target, step,
    )  # fmt: skip
