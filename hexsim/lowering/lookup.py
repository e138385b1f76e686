"""Neuron, Prelu and Convert: a function of one code is a table of all codes, 256 or 65536.

Sigmoid, tanh and leaky rectifiers of 8-bit codes have tables computed in 16-bit integers, as
Hexagon NN computes them (hexsim.lowering.sigmoid_tanh, hexsim.lowering.leaky_relu), unless the
output's encoding or the runtime is not Hexagon NN's. Any other table is the function evaluated in
float64 on the real values of the input's codes and coded with the output's encoding, so it is the
best answer of that width there is. An infinite result is the outermost code. A code without a
result (the root of a negative number) has the result of the nearest code that has one, the smaller
code of two; a table without any result is zero.
The table of a Convert has the code of the output's encoding for each code of the input.
"""

from dataclasses import dataclass

import numpy as np

from hexsim.layers import Convert, Neuron, Prelu
from hexsim.lowering.leaky_relu import leaky_codes
from hexsim.lowering.lowered_call import CallOperands, Codes, LoweredCall, Operand, Real
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.sigmoid_tanh import squashed_codes
from hexsim.lowering.source import OWN_BITS, Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredLookup(LoweredCall):
    """`tables` is (1, codes), or (channels, codes) along the last stored axis."""

    tables: Codes


def lower_neuron(layer: Neuron, source: QuantizedSource) -> LoweredLookup:
    """Turn an activation function into a table."""
    call = source.operands(layer)
    x, output = call.inputs[0], call.output.encoding
    function = layer.function
    if (function == "sigmoid" or function == "tanh") and source.is_own(function, output):
        tables = squashed_codes(function, x, output)
    elif function == "leaky_relu":
        tables = _leaky_tables(np.array([layer.alpha], np.float64), call, source)
    else:
        tables = output.quantize(_without_gaps(layer.values(_reals(x)))).astype(output.dtype)
    return LoweredLookup(*call, tables=tables.reshape(1, -1))


def lower_prelu(layer: Prelu, source: QuantizedSource) -> LoweredLookup:
    """Turn a Prelu into one table per channel."""
    call = source.operands(layer)
    slopes = np.broadcast_to(source.real(layer.slope).reshape(-1), call.inputs[0].shape[-1:])
    return LoweredLookup(*call, tables=_leaky_tables(slopes, call, source))


def _leaky_tables(slopes: Real, call: CallOperands, source: QuantizedSource) -> Codes:
    """Return a table of codes for each slope, (slopes, codes)."""
    (x,), output = call.inputs, call.output.encoding
    own = source.own_functions and x.bits == OWN_BITS
    tables = leaky_codes(slopes, x, output) if own else None
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
