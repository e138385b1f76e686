"""Weights of a depthwise convolution as `inner_loops.depthwise_tile` reads them."""

import numpy as np

from hexsim.int8.gemm.padded import Int16
from hexsim.int8.gemm.panels import Int8, Steps
from hexsim.int8.machine_code.inner_loops.depthwise_tile import order_of
from hexsim.int8.machine_code.inner_loops.microkernel import RegisterTile
from hexsim.int8.panel import COLUMNS, STEP_BYTES, together
from hexsim.lowering.lowered_call import Int64


def channel_order(tile: RegisterTile, panels: int) -> list[int]:
    """Return the channel of each column of all panels, computed as many together as fit."""
    order: list[int] = []
    while panels > 0:
        count = together(panels, tile.panels)
        order += [len(order) + channel for channel in order_of(tile, count)]
        panels -= count
    return order


def pack_taps(weights: Steps, tile: RegisterTile) -> Steps:
    """Pack (taps, channels) as flat (panels, steps, columns in the tile's order, taps of a
    step)."""
    taps, channels = weights.shape
    step = STEP_BYTES // weights.itemsize
    steps, panels = -(-taps // step), -(-channels // COLUMNS)
    padded = np.zeros((step * steps, panels * COLUMNS), weights.dtype)
    padded[:taps, :channels] = weights
    split = padded[:, channel_order(tile, panels)].reshape(steps, step, panels, COLUMNS)
    return np.ascontiguousarray(split.transpose(2, 0, 3, 1)).reshape(-1)


def in_bytes(weights: Int16) -> tuple[Int8, Int64]:
    """Return signed bytes that add up to weights (taps, channels), and the tap of each row.

    The distance of an asymmetric weight from its zero point has 9 bits, so it may take two or
    three.
    """
    rest, tap = weights, np.arange(len(weights))
    rows, taps = [], []
    while tap.size:
        part = rest.clip(-128, 127).astype(np.int8)
        rows.append(part)
        taps.append(tap)
        rest = rest - part
        nonzero = rest.any(axis=1)
        rest, tap = rest[nonzero], tap[nonzero]
    return np.concatenate(rows), np.concatenate(taps)
