"""Neuron, Prelu and Convert: a function of one code is a table of all codes, 256 or 65536.

Sigmoid, tanh and leaky rectifiers of 8-bit codes have tables computed in 16-bit integers, as
Hexagon NN computes them (hexsim.lowering.sigmoid_tanh, hexsim.lowering.leaky_relu). Any other table
is the function evaluated in float64 on the real values of the input's codes and coded with the
output's encoding, so it is the best answer of that width there is. An infinite result is
the outermost code. A code without a result (the root of a negative number) has the result of the
nearest code that has one, the smaller code of two; a table without any result is zero.
The table of a Convert has the code of the output's encoding for each code of the input.
"""

from dataclasses import dataclass

import numpy as np

from hexsim.layers import Convert, Neuron, Prelu
from hexsim.lowering.leaky_relu import leaky_codes
from hexsim.lowering.lowered_call import Codes, LoweredCall, Operand, Real
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.sigmoid_tanh import own_function, squashed_codes
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding

_BITS = 8
"""Width of the codes for which Hexagon NN has integer rules of functions."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredLookup(LoweredCall):
    """`tables` is (1, codes), or (channels, codes) along the last stored axis."""

    tables: Codes


def lower_neuron(layer: Neuron, source: QuantizedSource) -> LoweredLookup:
    """Turn an activation function into a table."""
    call = source.operands(layer)
    tables = _neuron_codes(layer, call.inputs[0], call.output.encoding).reshape(1, -1)
    return LoweredLookup(*call, tables=tables)


def lower_prelu(layer: Prelu, source: QuantizedSource) -> LoweredLookup:
    """Turn a Prelu into one table per channel."""
    call = source.operands(layer)
    slopes = np.broadcast_to(source.real(layer.slope).reshape(-1), call.inputs[0].shape[-1:])
    tables = _leaky_tables(slopes, call.inputs[0], call.output.encoding)
    return LoweredLookup(*call, tables=tables)


def _neuron_codes(layer: Neuron, x: Operand, output: Encoding) -> Codes:
    if x.bits == _BITS and (own := own_function(layer.function, output)):
        return squashed_codes(own, x, output)
    if layer.function == "leaky_relu":
        return _leaky_tables(np.array([layer.alpha], np.float64), x, output)
    return output.quantize(_without_gaps(layer.values(_reals(x)))).astype(output.dtype)


def _leaky_tables(slopes: Real, x: Operand, output: Encoding) -> Codes:
    """Return a table of codes for each slope, (slopes, codes)."""
    tables = leaky_codes(slopes, x, output) if x.bits == _BITS else None
    if tables is not None:
        return tables
    values = _reals(x)
    exact = output.quantize(np.where(values >= 0, values, slopes[:, None] * values))
    return exact.astype(output.dtype)


def _reals(operand: Operand) -> Real:
    return (
        np.arange(operand.encoding.steps + 1, dtype=np.float64) - operand.zero_point
    ) * operand.delta


def _without_gaps(values: Real) -> Real:
    """Return the results of codes in order; one that is missing is taken from the nearest code."""
    valid = np.flatnonzero(~np.isnan(values))
    if not valid.size:
        return np.zeros_like(values)
    codes = np.arange(len(values))
    above = valid[np.minimum(np.searchsorted(valid, codes), len(valid) - 1)]
    below = valid[np.maximum(np.searchsorted(valid, codes, "right") - 1, 0)]
    nearest = np.where(np.abs(codes - below) <= np.abs(above - codes), below, above)
    return values[nearest]


def lower_convert(layer: Convert, source: QuantizedSource) -> LoweredLookup:
    """Turn a change of encoding into a table: the rescale rule at each code."""
    _, (x,), output = source.operands(layer)
    table = rescale_table(x, output.encoding)
    if table is None:
        table = np.arange(x.encoding.steps + 1).astype(output.encoding.dtype)
    return LoweredLookup(layer.name, (x,), output, tables=table.reshape(1, -1))


LOWERINGS: Lowerings = {Neuron: lower_neuron, Prelu: lower_prelu, Convert: lower_convert}
