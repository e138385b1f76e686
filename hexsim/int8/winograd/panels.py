"""Weights of a 3x3 convolution for Winograd's algorithm: whether they suit it, and their panels."""

import numpy as np

from hexsim.int8.gemm.panels import pack_panels
from hexsim.int8.machine_code.inner_loops.winograd_tile import pair_tile
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.panel import COLUMNS, STEP_BYTES
from hexsim.int8.winograd.maps import KERNEL, LIMIT, SQUARES
from hexsim.int8.winograd.transform import transform_weights
from hexsim.lowering.lowered_call import Codes
from hexsim.lowering.weights import Weights

_LARGEST_CODE = 255


def sums_fit(weights: Weights, zero_point: int) -> bool:
    """Return whether no sum of products reaches LIMIT, whatever the codes of the activations.

    Their distances from `zero_point` lie between -zero_point and 255 - zero_point. Bounding the
    positive and the negative weights of a channel apart allows for about twice the depth that the
    sum of their sizes would.
    """
    distances = weights.codes.reshape(-1, weights.codes.shape[-1]).astype(np.int64)
    distances -= weights.zero_point
    positive = np.maximum(distances, 0).sum(axis=0)
    negative = positive - distances.sum(axis=0)
    above, below = _LARGEST_CODE - zero_point, zero_point
    largest = np.maximum(above * positive + below * negative, below * positive + above * negative)
    return bool((largest < LIMIT).all())


def pack_winograd(weights: Weights) -> Codes:
    """Return the bytes of int16 (panels, SQUARES, steps, COLUMNS, 2), transformed.

    Panels fill whole tiles of the micro-kernel; those without channels are zero.
    """
    _, _, deep, columns = weights.codes.shape
    tile_columns = COLUMNS * pair_tile().panels
    padded_columns = -(-columns // tile_columns) * tile_columns
    distances = np.zeros((KERNEL * KERNEL, deep, 1, padded_columns), np.int16)
    distances[..., 0, :columns] = weights.codes.reshape(KERNEL * KERNEL, deep, columns)
    distances[..., 0, :columns] -= np.int16(weights.zero_point)
    plain = pack_panels(distances).view(np.uint8)
    packed = np.empty(plain.size // (KERNEL * KERNEL) * SQUARES, np.uint8)
    panels = padded_columns // COLUMNS
    _transform(plain, panels, packed.size // (panels * SQUARES), packed)
    return packed


@kernel("void(uint8[::1],int64,int64,uint8[::1])")
def _transform(plain: Codes, panels: int, run_bytes: int, packed: Codes) -> None:
    for panel in range(panels):
        source = plain.ctypes.data + panel * KERNEL * KERNEL * run_bytes
        target = packed.ctypes.data + panel * SQUARES * run_bytes
        for step in range(0, run_bytes, STEP_BYTES * COLUMNS):
            transform_weights(source + step, run_bytes, target + step, run_bytes)
