"""The edges of a fixed-point subnet: floats become codes, codes become floats.

The values are those of `Encoding.quantize` and `Encoding.dequantize`, bit for bit; whole arrays of
doubles would cost more than some networks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Codes
from hexsim.graph.ir import FloatArray
from hexsim.int8.jit import template
from hexsim.quantization.encodings import Encoding


def quantize(values: FloatArray, encoding: Encoding, codes: Codes) -> None:
    """Write the codes of finite `values` under an asymmetric encoding into contiguous `codes`."""
    flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    kernel = _quantize(codes.dtype)
    kernel(flat, encoding.delta, encoding.offset, encoding.steps, codes.reshape(-1))


def dequantize(codes: Codes, encoding: Encoding) -> FloatArray:
    """Return the reals of `codes` under an encoding of at most 16 bits."""
    table = encoding.dequantize(np.arange(encoding.steps + 1))
    values = np.empty(codes.shape, np.float32)
    _dequantize(codes.dtype)(codes.reshape(-1), table, values.reshape(-1))
    return values


@template("void(float32[::1],float64,float64,float64,{0}[::1])")
def _quantize(values: FloatArray, delta: float, offset: float, steps: float, codes: Codes) -> None:
    for i in range(values.size):
        code = np.floor(np.float64(values[i]) / delta - offset + 0.5)
        codes[i] = np.int32(min(max(code, 0.0), steps))


@template("void({0}[::1],float32[::1],float32[::1])")
def _dequantize(codes: Codes, table: npt.NDArray[np.float32], values: FloatArray) -> None:
    for i in range(codes.size):
        values[i] = table[codes[i]]
