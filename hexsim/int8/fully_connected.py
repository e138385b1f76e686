"""FullyConnected: dot products with weights kept at 8 bits, because reading them is the cost.

    sum of (x - zx) * (w - zw) = sum of (x - zx) * w - zw * sum of (x - zx)

so the zero point of the weights costs one sum per input, and asymmetric codes stay bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Codes, Int32
from hexsim.binding.fully_connected import BoundFullyConnected
from hexsim.int8.jit import kernel, template
from hexsim.int8.padded import Int16, PaddedInput
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.requantise import requantise
from hexsim.int8.step import FIRST, LAST, Step, Work, Workspace
from hexsim.layers import Window

Integers = npt.NDArray[np.integer[Any]]

_U8_TO_S8 = 128
_STRIP = 32
"""Rows transposed at a time, so that cache lines are written while they are there (measured: a
fifth of the time of a whole 9216x4096 transposition; 64 rows are slower)."""


class PreparedFullyConnected:
    """Weights are packed (outputs, inputs), signed."""

    def __init__(self, call: BoundFullyConnected) -> None:
        shape = call.inputs[0].shape
        depth = math.prod(shape[1:])
        self._wide = PaddedInput((shape[0], 1, 1, depth), Window((1, 1)), call.inputs[0].zero_point)
        codes, zero_point = call.weights.codes, call.weights.zero_point
        if codes.dtype == np.uint8:
            codes = (codes ^ np.uint8(_U8_TO_S8)).view(np.int8)
            zero_point -= _U8_TO_S8
        self._weights = transposed(codes)
        self._zero_point = zero_point
        self._tail = call.tail

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        batch, depth = self._wide.shape[0], self._wide.shape[3]
        wide, copying = self._wide.copied(inputs[0], workspace)
        x = wide[: batch * depth].reshape(batch, depth)
        correction = workspace.empty(batch, np.int32)
        tail = self._tail
        arguments = (
            x, self._weights, correction, tail.preload, tail.multiplier, tail.shift,
            tail.low, tail.high, output, FIRST, LAST,
        )  # fmt: skip
        return [
            *copying,
            Step(_correct, (x, self._zero_point, correction, FIRST, LAST), batch),
            Step(_fully_connected(output.dtype), arguments, len(self._weights)),
        ]


def transposed(codes: Integers) -> Integers:
    """Return (rows, columns) as a new C-contiguous (columns, rows)."""
    result: Integers = np.empty(codes.shape[::-1], codes.dtype)
    for first in range(0, len(codes), _STRIP):
        result[:, first : first + _STRIP] = codes[first : first + _STRIP].T
    return result


@kernel("void(int16[:,::1],int32,int32[::1],int64,int64)")
def _correct(x: Int16, zero_point: int, correction: Int32, first: int, last: int) -> None:
    for item in range(first, last):
        total = np.int32(0)
        for k in range(x.shape[1]):
            total = np.int32(total + np.int32(x[item, k]))
        correction[item] = np.int32(total * zero_point)


@template(
    "void(int16[:,::1],int8[:,::1],int32[::1],int32[::1],int32[::1],int32[::1],"
    "int32,int32,{0}[:,::1],int64,int64)"
)
def _fully_connected(
    x: Int16,
    weights: npt.NDArray[np.int8],
    correction: Int32,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    low: int,
    high: int,
    out: Out,
    first: int,
    last: int,
) -> None:
    for channel in range(first, last):
        for item in range(x.shape[0]):
            total = np.int32(preload[channel] - correction[item])
            for k in range(x.shape[1]):
                product = np.int32(np.int32(x[item, k]) * np.int32(weights[channel, k]))
                total = np.int32(total + product)
            if out.itemsize == SUM_BYTES:
                out[item, channel] = total
            else:
                out[item, channel] = requantise(
                    total, multiplier[channel], shift[channel], low, high
                )
