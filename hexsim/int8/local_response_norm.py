"""LocalResponseNorm: a sliding sum of squares and an interpolated power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.binding.call import Codes, Int32
from hexsim.binding.local_response_norm import OCTAVE_BITS, BoundLocalResponseNorm
from hexsim.int8.jit import kernel
from hexsim.int8.prepared import Out
from hexsim.int8.requantise import requantise


class PreparedLocalResponseNorm:
    """Normalisation across the channels around each one."""

    def __init__(self, call: BoundLocalResponseNorm) -> None:
        self._zero_point = call.inputs[0].zero_point
        self._size = call.size
        self._powers = call.powers
        self._tail = call.tail

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        channels, tail = output.shape[-1], self._tail
        _local_response_norm(
            inputs[0].reshape(-1, channels), self._zero_point, self._size, self._powers,
            tail.preload[0], tail.multiplier[0], tail.shift[0], tail.low, tail.high,
            output.reshape(-1, channels), np.empty(channels, np.int32),
        )  # fmt: skip


@intrinsic  # type: ignore[untyped-decorator]
def _leading_zeros(typing: Any, value: Any) -> Any:
    """Number of zero bits above the highest set bit of an int32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero_is_undefined = ir.Constant(ir.IntType(1), 0)
        return builder.ctlz(arguments[0], zero_is_undefined)

    return types.int32(types.int32), generate


@kernel(
    "void(uint8[:,::1],int32,int64,int32[::1],int32,int32,int32,int32,int32,uint8[:,::1],"
    "int32[::1])"
)
def _local_response_norm(
    x: Codes,
    zero_point: int,
    size: int,
    powers: Int32,
    preload: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Codes,
    squares: Int32,
) -> None:
    channels = x.shape[1]
    behind = (size - 1) // 2
    ahead = size - 1 - behind
    for pixel in range(x.shape[0]):
        row = x[pixel]
        total = np.int32(0)
        for c in range(min(ahead, channels)):
            distance = np.int32(np.int32(row[c]) - zero_point)
            total = np.int32(total + np.int32(distance * distance))
        for c in range(channels):
            if c + ahead < channels:
                distance = np.int32(np.int32(row[c + ahead]) - zero_point)
                total = np.int32(total + np.int32(distance * distance))
            squares[c] = total
            if c >= behind:
                distance = np.int32(np.int32(row[c - behind]) - zero_point)
                total = np.int32(total - np.int32(distance * distance))
        for c in range(channels):
            bits = np.int32(np.int32(31 - OCTAVE_BITS) - _leading_zeros(squares[c]))
            bits = max(bits, np.int32(0))
            knot = (bits << np.int32(OCTAVE_BITS)) + (squares[c] >> bits)
            rest = np.int64(squares[c]) & ((np.int64(1) << np.int64(bits)) - 1)
            half = (np.int64(1) << np.int64(bits)) >> np.int64(1)
            slope = np.int64(powers[knot + 1] - powers[knot])
            power = np.int32(powers[knot] + ((slope * rest + half) >> np.int64(bits)))
            distance = np.int32(np.int32(row[c]) - zero_point)
            total = np.int32(np.int32(distance * power) + preload)
            out[pixel, c] = requantise(total, multiplier, shift, low, high)
