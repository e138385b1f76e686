"""Packs two 4-bit codes (quantised values) into a byte, the first in the low nibble.

A tensor is packed as one run of codes in C order, or as one run per channel (the last axis). Each
run starts a new byte, and a run of odd length is padded with a zero nibble. Signed codes are packed
in two's complement.

Source: the quantisation chapter of the SNPE guide (2025; documented): (10, 4) becomes the byte
0100 1010, and a channel of 27 codes takes 14 bytes.
"""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Shape

Runs = Literal["tensor", "channel"]


def packed_bytes(shape: Shape, runs: Runs) -> int:
    """Return the number of bytes of packed codes of `shape`."""
    count, length = _count_and_length(shape, runs)
    return count * ((length + 1) // 2)


def pack(codes: npt.NDArray[np.integer], runs: Runs) -> npt.NDArray[np.uint8]:
    """Return the bytes of int8 codes in -8 .. 7 or uint8 codes in 0 .. 15."""
    count, length = _count_and_length(codes.shape, runs)
    nibbles = np.zeros((count, length + length % 2), np.uint8)
    nibbles[:, :length] = codes.reshape(length, count).T & 0xF
    return (nibbles[:, 0::2] | nibbles[:, 1::2] << np.uint8(4)).ravel()


def unpack(
    data: npt.NDArray[np.uint8], shape: Shape, runs: Runs, dtype: npt.DTypeLike
) -> npt.NDArray[np.generic]:
    """Return the codes of `shape` and `dtype` (int8 or uint8) that `pack` packed."""
    count, length = _count_and_length(shape, runs)
    pairs = data.reshape(count, -1)
    nibbles = np.stack([pairs & 0xF, pairs >> np.uint8(4)], axis=-1).reshape(count, -1)[:, :length]
    if np.dtype(dtype).kind == "i":
        nibbles = (nibbles ^ 8) - np.uint8(8)  # sign extension, modulo 256
    return np.ascontiguousarray(nibbles.T).reshape(shape).view(dtype)


def _count_and_length(shape: Shape, runs: Runs) -> tuple[int, int]:
    """Return the number of runs and the number of codes in each."""
    count = shape[-1] if runs == "channel" else 1
    return count, math.prod(shape) // count
