"""The inputs and outputs of a fixed-point subnet: floats become codes, codes become floats.

Both are steps like any other, except that the floats lie elsewhere in every run. The values are
those of `Encoding.quantize` and `Encoding.dequantize`, bit for bit; those functions would allocate
whole arrays of float64, which costs more than some networks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import FloatArray
from hexsim.int8.machine_code.addresses import floats_at
from hexsim.int8.machine_code.jit import template
from hexsim.int8.machine_code.memory import ALIGNMENT
from hexsim.int8.machine_code.words import Slot
from hexsim.int8.step import FIRST, LAST, Step
from hexsim.lowering.lowered_call import Codes, Int64, Real
from hexsim.quantization.encodings import Encoding


class QuantizeInput:
    """The step by which finite floats become contiguous `codes` of an asymmetric encoding."""

    def __init__(self, encoding: Encoding, codes: Codes) -> None:
        self._slot = Slot()
        constants = np.array([encoding.delta, encoding.offset, encoding.steps], np.float64)
        arguments = (self._slot, constants, codes.reshape(-1), FIRST, LAST)
        self.step = Step(_quantize(codes.dtype), arguments, codes.size, ALIGNMENT)

    def take(self, values: FloatArray) -> None:
        """Let the step read `values`, of the shape of the codes."""
        self._slot.hold(np.ascontiguousarray(values, np.float32))

    def release(self) -> None:
        """Drop the values, which are kept alive until then."""
        self._slot.release()


class DequantizeOutput:
    """The step by which contiguous `codes` of an encoding of at most 16 bits become floats."""

    def __init__(self, encoding: Encoding, codes: Codes) -> None:
        self._slot = Slot()
        self._shape = codes.shape
        table = encoding.dequantize(np.arange(encoding.steps + 1))
        arguments = (codes.reshape(-1), table, self._slot, FIRST, LAST)
        self.step = Step(_dequantize(codes.dtype), arguments, codes.size, ALIGNMENT)

    def give(self) -> FloatArray:
        """Return a new array, which the step fills."""
        values: FloatArray = np.empty(self._shape, np.float32)
        self._slot.hold(values)
        return values

    def release(self) -> None:
        """Drop the array, which is kept alive until then."""
        self._slot.release()


@template("void(int64[::1],float64[::1],{0}[::1],int64,int64)")
def _quantize(address: Int64, constants: Real, codes: Codes, first: int, last: int) -> None:
    delta, offset, steps = constants[0], constants[1], constants[2]
    values = floats_at(address[0], codes.size)[first:last]
    part = codes[first:last]
    for i in range(part.size):
        code = np.floor(np.float64(values[i]) / delta - offset + 0.5)
        part[i] = np.int32(min(max(code, 0.0), steps))


@template("void({0}[::1],float32[::1],int64[::1],int64,int64)")
def _dequantize(
    codes: Codes, table: npt.NDArray[np.float32], address: Int64, first: int, last: int
) -> None:
    values = floats_at(address[0], codes.size)[first:last]
    part = codes[first:last]
    for i in range(part.size):
        values[i] = table[part[i]]
