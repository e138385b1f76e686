"""Softmax: tables of exponentials, an integer sum, then a division or a 16-bit reciprocal."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hexsim.int8.machine_code.jit import CompiledKernel, kernel
from hexsim.int8.pointwise.softmax_of_bytes import softmax_of_bytes
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.step import FIRST, LAST, Step, Work, Workspace
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.softmax import SCALE_BITS, LoweredSoftmax
from hexsim.lowering.softmax_of_bytes import LoweredByteSoftmax


class PreparedSoftmax:
    """A softmax by `kernel` with `constants`; summed axes are moved to the end if need be."""

    def __init__(
        self,
        call: LoweredSoftmax | LoweredByteSoftmax,
        row_kernel: CompiledKernel,
        constants: tuple[object, ...],
    ) -> None:
        shape = call.output.shape
        separate = tuple(axis for axis in range(len(shape)) if axis not in call.axes)
        self._order = (*separate, *sorted(call.axes))
        self._summed = math.prod(shape[axis] for axis in call.axes)
        self._kernel, self._constants = row_kernel, constants

    @classmethod
    def of_16_bits(cls, call: LoweredSoftmax) -> PreparedSoftmax:
        """Prepare a softmax with one division per code."""
        zero_point, most = call.output.zero_point, call.output.encoding.steps
        return cls(call, _softmax, (call.exponentials, call.scale, zero_point, most))

    @classmethod
    def of_bytes(cls, call: LoweredByteSoftmax) -> PreparedSoftmax:
        """Prepare a softmax with one reciprocal per row."""
        tables = np.stack([call.powers, call.shares])
        constants = (tables, call.sum_bits, call.scale, call.output.zero_point)
        return cls(call, softmax_of_bytes, constants)

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        source, target = inputs[0].transpose(self._order), output.transpose(self._order)
        in_place = self._order == tuple(range(output.ndim))
        moved = source if in_place else workspace.empty(source.shape, source.dtype)
        result = target if in_place else workspace.empty(target.shape, target.dtype)
        rows = result.reshape(-1, self._summed)
        arguments = (moved.reshape(-1, self._summed), *self._constants, rows, FIRST, LAST)
        step = Step(self._kernel, arguments, len(rows))
        if in_place:
            return [step]
        return [copy(source, moved), step, copy(result, target)]


@kernel("void(uint16[:,::1],int32[::1],int64,int64,int64,uint16[:,::1],int64,int64)")
def _softmax(
    x: Codes,
    exponentials: Int32,
    scale: int,
    zero_point: int,
    most: int,
    out: Codes,
    first: int,
    last: int,
) -> None:
    for row in range(first, last):
        largest = x[row, 0]
        for k in range(x.shape[1]):
            largest = max(largest, x[row, k])
        total = np.int64(0)
        for k in range(x.shape[1]):
            total += exponentials[np.int64(largest) - np.int64(x[row, k])]
        divisor = total << np.int64(SCALE_BITS)
        for k in range(x.shape[1]):
            share = np.int64(exponentials[np.int64(largest) - np.int64(x[row, k])]) * scale
            code = zero_point + (2 * share + divisor) // (2 * divisor)
            out[row, k] = min(max(code, 0), most)  # type: ignore[assignment]


PREPARERS: Preparers = {
    LoweredSoftmax: PreparedSoftmax.of_16_bits,
    LoweredByteSoftmax: PreparedSoftmax.of_bytes,
}
