"""16-bit codes as two bytes, each an 8-bit tensor with a zero point of its own.

    code - zero point = 256 * (high byte - high byte of the zero point)
                           + (low byte - low byte of the zero point)

So a sum of products with 16-bit codes is the sum of the products with their bytes, each weighted by
the place of the byte. Signed codes have a signed high byte and an unsigned low one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.lowering.lowered_call import Codes, Operand
from hexsim.lowering.source import Weights


def byte_codes(codes: npt.NDArray[np.integer[Any]], byte: int) -> npt.NDArray[Any]:
    """Return one byte of codes, C-contiguous; 8-bit codes are byte 0 of themselves."""
    if codes.dtype.itemsize == 1:
        return codes
    shifted = codes >> (8 * byte)
    signed = byte and codes.dtype.kind == "i"
    return np.ascontiguousarray((shifted & 0xFF).astype(np.uint8)).view("i1" if signed else "u1")


def byte_operands(x: Operand) -> list[tuple[int, Operand]]:
    """Return the bytes of an operand as 8-bit operands, lowest first, with their numbers."""
    if x.bits == 8:
        return [(0, x)]
    return [(byte, _byte_operand(x, byte)) for byte in range(x.bits // 8)]


def _byte_operand(x: Operand, byte: int) -> Operand:
    zero_point = x.zero_point >> (8 * byte) & 0xFF
    delta = x.delta * 256**byte
    encoding = replace(
        x.encoding,
        bitwidth=8,
        min=-zero_point * delta,
        max=(255 - zero_point) * delta,
        delta=delta,
        offset=-zero_point,
    )
    codes: Codes | None = None if x.codes is None else byte_codes(x.codes, byte)
    return replace(x, encoding=encoding, codes=codes)


def byte_weights(weights: Weights) -> list[tuple[int, Weights]]:
    """Return the bytes of weights as 8-bit weights, lowest first, with their numbers."""
    if weights.bits == 8:
        return [(0, weights)]
    zero = weights.zero_point
    return [
        (
            byte,
            Weights(
                byte_codes(weights.codes, byte),
                zero >> (8 * byte) & 0xFF,
                weights.steps * 256**byte,
            ),
        )
        for byte in range(weights.bits // 8)
    ]
