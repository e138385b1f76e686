"""Weights of a depthwise convolution as `inner_loops.depthwise_tile` reads them."""

from __future__ import annotations

import numpy as np

from hexsim.int8.machine_code.inner_loops.depthwise_tile import ORDER
from hexsim.int8.panel import COLUMNS
from hexsim.int8.products.padded import Int16


def pack_taps(weights: Int16) -> Int16:
    """(taps, channels) -> flat (groups of COLUMNS, pairs of taps, COLUMNS in ORDER, 2)."""
    taps, channels = weights.shape
    pairs, groups = -(-taps // 2), -(-channels // COLUMNS)
    whole = np.zeros((2 * pairs, groups * COLUMNS), np.int16)
    whole[:taps, :channels] = weights
    split = whole.reshape(pairs, 2, groups, COLUMNS)[..., list(ORDER)]
    return np.ascontiguousarray(split.transpose(2, 0, 3, 1)).reshape(-1)
