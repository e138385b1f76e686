"""The inputs and outputs of a fixed-point subnet: floats become codes, codes become floats.

Both are steps like any other, except that the floats lie elsewhere in every run. The values are
those of `input_codes` and `Encoding.dequantize`, bit for bit; those functions would allocate
whole arrays of float64, which costs more than some networks.
"""

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import FloatArray
from hexsim.int8.machine_code.addresses import floats_at
from hexsim.int8.machine_code.arguments import ALIGNMENT, Slot
from hexsim.int8.machine_code.jit import kernel, template
from hexsim.int8.step import ROWS, Step
from hexsim.lowering.lowered_call import Codes, Int32, Int64, Real
from hexsim.quantization.encodings import Encoding, InputConstants, cuts

_MOST_PLACES = 250
"""Powers of two that take every float32 beyond all codes, or below one unit."""


class QuantizeInput:
    """The step by which finite floats become contiguous `codes` of an asymmetric encoding."""

    def __init__(self, encoding: Encoding, codes: Codes) -> None:
        self._slot = Slot()
        flat = codes.reshape(-1)
        if cuts(encoding):
            constants = InputConstants.of(encoding)
            integers = np.array([constants.start, constants.span, constants.factor], np.int32)
            arguments = (self._slot, _scales(constants.unit), integers, flat, *ROWS)
            self.step = Step(_cut, arguments, codes.size, ALIGNMENT)
        else:
            reals = np.array([encoding.delta, encoding.offset, encoding.steps], np.float64)
            self.step = Step(
                _round(codes.dtype), (self._slot, reals, flat, *ROWS), codes.size, ALIGNMENT
            )

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
        arguments = (codes.reshape(-1), table, self._slot, *ROWS)
        self.step = Step(_dequantize(codes.dtype), arguments, codes.size, ALIGNMENT)

    def give(self) -> FloatArray:
        """Return a new array, which the step fills."""
        values: FloatArray = np.empty(self._shape, np.float32)
        self._slot.hold(values)
        return values

    def release(self) -> None:
        """Drop the array, which is kept alive until then."""
        self._slot.release()


def _scales(unit: int) -> npt.NDArray[np.float32]:
    """Return two powers of two; a float times both is the float in units of 2^unit.

    One alone may lie outside the exponents of float32.
    """
    places = min(max(-unit, -_MOST_PLACES), _MOST_PLACES)
    return np.array([2.0 ** (places // 2), 2.0 ** (places - places // 2)], np.float32)


@kernel("void(int64[::1],float32[::1],int32[::1],uint8[::1],int64,int64)")
def _cut(
    address: Int64,
    scales: npt.NDArray[np.float32],
    constants: Int32,
    codes: Codes,
    first: int,
    last: int,
) -> None:
    """See InputConstants; bounds and distances are integers below 2^24, exact as float32."""
    scale, more = scales[0], scales[1]
    start, factor = constants[0], np.uint32(constants[2])
    lowest, highest = np.float32(-start), np.float32(constants[1] - start)
    values = floats_at(address[0], codes.size)[first:last]
    part = codes[first:last]
    for i in range(part.size):
        units = min(max(np.float32(np.float32(values[i] * scale) * more), lowest), highest)
        distance = np.uint32(np.int32(np.int32(units) + start))
        part[i] = np.uint32(np.uint32(distance * factor) >> np.uint32(24))


@template("void(int64[::1],float64[::1],{0}[::1],int64,int64)")
def _round(address: Int64, constants: Real, codes: Codes, first: int, last: int) -> None:
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
