"""16-bit operands: one pass of the 8-bit kernel for every pair of bytes, then one tail.

A kernel that accumulates products writes its bare int32 sums if its output is int32
(`PreparedCall`). Each pass has the bytes of one place as its operands; the tail adds the sums up,
each raised by its place, in 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.binding import (
    BoundAveragePool,
    BoundBatchNorm,
    BoundBilinear,
    BoundCall,
    BoundConvolution,
    BoundFullyConnected,
    BoundSum,
)
from hexsim.binding.bytes_of import byte_codes, byte_operands, byte_weights
from hexsim.binding.call import Codes, Int64
from hexsim.binding.requantise import Requantise
from hexsim.int8.jit import template
from hexsim.int8.prepared import PreparedCall, execute
from hexsim.int8.requantise import requantise_wide
from hexsim.int8.step import Work, Workspace

Linear = (
    BoundConvolution
    | BoundFullyConnected
    | BoundBatchNorm
    | BoundAveragePool
    | BoundBilinear
    | BoundSum
)


class PreparedBytes:
    """A call that is linear in its operand's codes and, if it has weights, in theirs."""

    def __init__(self, call: Linear, prepare: Callable[[BoundCall], PreparedCall]) -> None:
        passes = _passes(call)
        self._bytes = [byte for byte, _, _ in passes]
        self._kernels = [prepare(one) for _, _, one in passes]
        self._finish = WideTail(call, [8 * (byte + weight) for byte, weight, _ in passes])

    def steps(
        self, inputs: Sequence[Codes], output: npt.NDArray[np.integer[Any]], workspace: Workspace
    ) -> list[Work]:
        """See PreparedCall."""
        return [partial(self._run, inputs, output)]

    def _run(self, inputs: Sequence[Codes], output: npt.NDArray[np.integer[Any]]) -> None:
        sums = np.empty((len(self._kernels), *output.shape), np.int32)
        bytes_of = {byte: [byte_codes(x, byte) for x in inputs] for byte in set(self._bytes)}
        for byte, kernel, out in zip(self._bytes, self._kernels, sums, strict=True):
            execute(kernel, bytes_of[byte], out)
        self._finish(sums, output)


def _passes(call: Linear) -> list[tuple[int, int, Linear]]:
    """(byte of the operands, byte of the weights, 8-bit call) of every pass."""
    operands = zip(*(byte_operands(x) for x in call.inputs), strict=True)
    narrow = [
        (same[0][0], 0, replace(call, inputs=tuple(x for _, x in same), tail=_bare(call.tail)))
        for same in operands
    ]
    if not isinstance(call, BoundConvolution | BoundFullyConnected):
        return narrow
    weights = byte_weights(call.weights)
    return [
        (byte, place, replace(one, weights=part))  # type: ignore[arg-type]
        for byte, _, one in narrow
        for place, part in weights
    ]


def _bare(tail: Requantise) -> Requantise:
    """A tail that adds nothing to the sums."""
    return replace(tail, preload=np.zeros(tail.preload.shape, np.int32), fraction_bits=0)


class WideTail:
    """Sums raised by their places, added to the preload, requantised.

    `places` are the bits by which each of the arrays of sums is raised. Constants are per last
    axis, per pixel (average pooling) or one for all.
    """

    def __init__(self, call: BoundCall, places: Sequence[int]) -> None:
        tail: Requantise = call.tail  # type: ignore[attr-defined]
        self._tail = tail
        self._preload = tail.preload.astype(np.int64)
        self._places = np.array(places, np.int64)
        self._step = int(tail.preload.size > 1 and not isinstance(call, BoundAveragePool))
        self._entries = np.zeros(1, np.int32)
        if isinstance(call, BoundAveragePool):
            self._entries = np.ascontiguousarray(call.tail_of).reshape(-1)

    def __call__(
        self, sums: npt.NDArray[np.signedinteger[Any]], output: npt.NDArray[np.integer[Any]]
    ) -> None:
        """Write the codes of `sums`, one array of the output's shape for each place."""
        tail, columns = self._tail, output.shape[-1] if output.ndim else 1
        _finish(sums.dtype, output.dtype)(
            sums.reshape(len(sums), -1, columns), self._places, self._entries, self._step,
            self._preload, tail.multiplier, tail.shift, tail.fraction_bits, tail.low, tail.high,
            output.reshape(-1, columns), np.empty(columns, np.int64),
        )  # fmt: skip


@template(
    "void({0}[:,:,::1],int64[::1],int32[::1],int64,int64[::1],int32[::1],int32[::1],int64,"
    "int64,int64,{1}[:,::1],int64[::1])"
)
def _finish(
    sums: npt.NDArray[np.signedinteger[Any]],
    places: Int64,
    entries: npt.NDArray[np.int32],
    step: int,
    preload: Int64,
    multiplier: npt.NDArray[np.int32],
    shift: npt.NDArray[np.int32],
    fraction_bits: int,
    low: int,
    high: int,
    out: npt.NDArray[Any],
    totals: Int64,
) -> None:
    for row in range(out.shape[0]):
        first = np.int64(entries[row % entries.size])
        codes = out[row]
        totals[:] = 0
        for k in range(places.size):
            place, part = places[k], sums[k, row]
            for column in range(totals.size):
                totals[column] += np.int64(part[column]) << place
        if step:
            for column in range(totals.size):
                codes[column] = requantise_wide(
                    totals[column] + preload[column], multiplier[column], shift[column],
                    fraction_bits, low, high,
                )  # fmt: skip
        else:
            for column in range(totals.size):
                codes[column] = requantise_wide(
                    totals[column] + preload[first], multiplier[first], shift[first],
                    fraction_bits, low, high,
                )  # fmt: skip
