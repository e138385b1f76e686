"""Functions of one code: tables, the forms of Hexagon NN, and the user's own.

Neuron, Prelu and Convert are a table of all codes, 256 or 65536. Those of sigmoid, tanh and leaky
rectifiers of 8-bit codes are computed in 16-bit integers, as Hexagon NN does
(docs/reference/arithmetic.md), unless the output's encoding or the runtime is not Hexagon NN's. Any
other table is the function in float64 on the real values of the input's codes, coded with the
output's encoding: the best answer of that width there is. An infinite result is the outermost code.
A code without a result (the root of a negative number) has that of the nearest code that has one,
the smaller code of two; a table without any result is zero.

The function of a UserDefined is called unchanged, with its constants as real numbers.
"""

from collections.abc import Callable
from functools import cache
from typing import Literal

import numpy as np

from hexsim.layers import Convert, Neuron, Prelu
from hexsim.layers.onnx_nodes import UserDefined
from hexsim.lowering.lowered_call import CallOperands, Codes, Int64, LoweredCall, Operand, Real
from hexsim.lowering.requantize import rescale_table, rounded
from hexsim.lowering.source import OWN_BITS, Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding
from hexsim.records import dataclass, replace
from hexsim.udl import Node, Scale, UserLayer
from hexsim.udl.definition import Array

_MOST = 7
"""Largest exponent of gains and slopes (Hexagon NN: codes times 128 fill 16 bits)."""
_S16 = (-32768, 32767)


def leaky_codes(slopes: Real, x: Operand, output: Encoding) -> Codes | None:
    """Return the output's codes for all 256 codes of `x`, (slopes, 256); None if refused."""
    gain = float(np.float32(x.delta) / np.float32(output.delta))
    largest = float(np.abs(slopes).max())
    exponent = max(_exponent(gain * max(largest, 1.0)), 0)
    of_slopes = _exponent(largest) if largest > 1 else 0
    if exponent > _MOST or of_slopes > _MOST or gain == 0:
        return None
    positive = _limited(rounded(np.ldexp([gain], 15 - exponent)))
    scaled = _limited(rounded(np.ldexp(slopes, 15 - of_slopes)))
    finest = _limited(rounded(np.ldexp([gain], 15 - _exponent(gain))))
    right = min(15 + exponent - _exponent(gain) - of_slopes, 62)
    negative = _limited((scaled * finest + ((1 << right) >> 1)) >> right)
    distances = np.arange(x.encoding.steps + 1, dtype=np.int64) - x.zero_point
    factors = np.where(distances < 0, negative[:, None], positive)
    places = _MOST - exponent
    products = _limited((128 * distances * factors + (1 << 14)) >> 15)
    sums = _limited(products + (output.zero_point << places))
    codes = (sums + ((1 << places) >> 1)) >> places
    return codes.clip(0, output.steps).astype(output.dtype)


def _exponent(number: float) -> int:
    return int(np.frexp(number)[1])


def _limited(numbers: Real | Int64) -> Int64:
    return np.clip(numbers, *_S16).astype(np.int64)


SquashingFunction = Literal["sigmoid", "tanh"]

PIECES = 16
_PIECE = 1 << 11
"""Values of p in a piece."""
_REACH = 3.2
"""Where the last piece of tanh ends (Hexagon NN; tanh is there within half a code of one)."""
_FULL = {"tanh": 254 * 128, "sigmoid": 255 * 128}
"""T by function: the value that stands for one, 256 units for half a step (Hexagon NN)."""
_GAIN = {"tanh": 10240.0, "sigmoid": 5120.0}
"""Values of p in a real unit of the input (Hexagon NN: 16 * 2048 over the reach)."""
_SAMPLES = 64
"""Points of a piece at which the polynomials are fitted (our choice; with 64 all coefficients
round to those of Hexagon NN)."""
_CODE_BITS = 8
"""Units of a code have so many bits (Hexagon NN)."""
_S16_LIMIT = 32767


def squashed_codes(function: SquashingFunction, x: Operand, output: Encoding) -> Codes:
    """Return the code for each of the 256 codes of `x`, of an output with Hexagon NN's range."""
    factor, shift = _input_scale(x.delta * _GAIN[function])
    distances = np.arange(x.encoding.steps + 1, dtype=np.int64) - x.zero_point
    magnitudes = (np.abs(distances) * factor + ((1 << shift) >> 1)) >> shift
    values = polynomial_values(function, np.minimum(magnitudes, _S16_LIMIT))
    units = np.where(distances < 0, -values, values + 1)
    if function == "sigmoid":
        units = units + _FULL[function]
    codes = output.zero_point + ((units + (1 << (_CODE_BITS - 1))) >> _CODE_BITS)
    return codes.clip(0, output.steps).astype(output.dtype)


def polynomial_values(function: SquashingFunction, magnitudes: Int64) -> Int64:
    """Return v of p, 0 .. 32767."""
    knots, slopes, bends = coefficients(function)
    piece, rest = magnitudes // _PIECE, magnitudes % _PIECE
    slope = slopes[piece] + ((bends[piece] * rest + (1 << 14)) >> 15)
    value: Int64 = knots[piece] + ((4 * rest * slope + (1 << 14)) >> 15)
    return value


@cache
def coefficients(function: SquashingFunction) -> tuple[Int64, Int64, Int64]:
    """Return knots, slopes and bends of the 16 pieces, each int64 (16,).

    The pieces are the continuous quadratic spline nearest to T * tanh by least squares that is
    exact at both ends. (A sigmoid is a tanh of half its argument, so its pieces are the same but
    for T.) With a piece knot + rise * u + bulge * u * (u - 1), u = 0 .. 1, the slope is
    4 * (rise - bulge) and the bend 64 * bulge.
    """
    full = _FULL[function]
    inside = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    columns = np.zeros((PIECES * _SAMPLES, 2 * PIECES + 1))
    for piece in range(PIECES):
        rows = slice(piece * _SAMPLES, (piece + 1) * _SAMPLES)
        columns[rows, piece], columns[rows, piece + 1] = 1 - inside, inside
        columns[rows, PIECES + 1 + piece] = inside * (inside - 1)
    positions = (np.arange(PIECES)[:, None] + inside).ravel() * (_REACH / PIECES)
    end = full * np.tanh(_REACH)
    wanted = full * np.tanh(positions) - end * columns[:, PIECES]
    free = np.delete(columns, [0, PIECES], axis=1)
    solution = np.linalg.lstsq(free, wanted, rcond=None)[0]
    knots = np.concatenate([[0.0], solution[: PIECES - 1], [end]])
    bulges = solution[PIECES - 1 :]
    slopes = 4 * (np.diff(knots) - bulges)
    knots, slopes, bends = (
        rounded(reals).astype(np.int64) for reals in (knots[:-1], slopes, 64 * bulges)
    )
    return knots, slopes, bends


def _input_scale(gain: float) -> tuple[int, int]:
    """Return k and s for a `gain` of p per code."""
    shift = 15 - max(int(np.frexp(gain)[1]), 0)
    if shift < 0:
        return _S16_LIMIT, 0
    return min(int(np.floor(gain * 2.0**shift + 0.5)), _S16_LIMIT), shift


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


_EXCHANGES = 8
"""Rounds of Remez's exchange, of which smooth functions need three."""
_POINTS = 1 << 12
"""Points of a piece among which the largest errors are looked for."""


def minimax_parabolas(function: Callable[[Real], Real]) -> Real:
    """Return `c`, shape (3, 16): the function at (piece + u) / 16 is about c0 + c1 * u + c2 * u^2.

    The third derivative must have one sign, so that the error is largest at both ends of a piece
    and at two places between them.
    """
    return np.stack([_parabola(function, piece) for piece in range(PIECES)], axis=1)


def _parabola(function: Callable[[Real], Real], piece: int) -> Real:
    u = np.arange(_POINTS + 1) / _POINTS
    values = function((piece + u) / PIECES)
    powers = np.stack([np.ones_like(u), u, u * u], axis=1)
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    places = np.array([0, _POINTS // 4, 3 * _POINTS // 4, _POINTS])
    half = _POINTS // 2
    for _ in range(_EXCHANGES):
        system = np.column_stack([powers[places], signs])
        solution = np.linalg.solve(system, values[places])
        errors = (values - powers @ solution[:3]) * np.sign(solution[3])
        inner = np.argmin(errors[:half]), half + np.argmax(errors[half:])
        places = np.array([0, *inner, _POINTS])
    parabola: Real = solution[:3]
    return parabola


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredUserDefined(LoweredCall):
    """`node` is passed to the function; `arguments` has its inputs in the order of the operator.

    An argument is a position in `inputs`, a constant, or None.
    """

    definition: UserLayer
    node: Node
    arguments: tuple[int | Array | None, ...]


def lower_user_defined(layer: UserDefined, source: QuantizedSource) -> LoweredUserDefined:
    """Find the encodings of the inputs that vary, and the values of the constants."""
    network = source.model.network
    varying = tuple(dict.fromkeys(name for name in layer.inputs if name in network.tensors))
    inputs = tuple(source.operand(name, layer) for name in varying)
    output = source.operand(layer.output, layer)
    arguments: list[int | Array] = [
        varying.index(name) if name in varying else network.constants[name].value()
        for name in layer.inputs
    ]
    scales = [
        _scale(inputs[argument]) if isinstance(argument, int) else None for argument in arguments
    ]
    node = layer.node(network.input_shapes(layer), network.layer_outputs(layer))
    return LoweredUserDefined(
        layer.name,
        inputs,
        output,
        definition=layer.known,
        node=replace(node, input_scales=layer.at_places(scales), output_scale=_scale(output)),
        arguments=layer.at_places(arguments),
    )


def _scale(operand: Operand) -> Scale:
    return Scale(operand.delta, operand.zero_point, operand.bits)


LOWERINGS: Lowerings = {
    Neuron: lower_neuron,
    Prelu: lower_prelu,
    Convert: lower_convert,
    UserDefined: lower_user_defined,
}
