"""Recurrent: two integer products a step, gates by interpolated tables, states as codes.

The equations of LSTM, GRU and RNN are in docs/reference/arithmetic.md. Sums are exact, in 64 bits.
States have the codes of the output; an initial hidden state has their step, and may be beyond them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, spelled
from hexsim.layers import Recurrent
from hexsim.layers.recurrent import Cell, Direction
from hexsim.lowering.lowered_call import Int64, LoweredCall, Real
from hexsim.lowering.requantize import rounded
from hexsim.lowering.source import Lowerings, QuantizedSource, Weights, lower_weights
from hexsim.records import dataclass

SUM_BITS = 20
"""Fraction bits of the sum before a gate, and of an LSTM's cell."""
GATE_BITS = 15
"""Fraction bits of a gate (our choice: the most that a signed halfword holds)."""
KNOT_SHIFT = 8
"""A knot for every 2^8 steps of 2^-12: one sixteenth."""
_KNOTS = 256
_GATE_LIMIT = 32767
_MULTIPLIER_BITS = 24
_MOST_SHIFT = 62
_WIDEST_WEIGHT = 8
_CELL_BITS = 16
"""Further fraction bits of the factor of an initial cell state."""


@dataclass(frozen=True, eq=False)
class Scales:
    """The numbers m and s of `scaled`, a pair for each column or one pair in all."""

    multiplier: Int64
    shift: Int64

    @classmethod
    def of(cls, factors: npt.ArrayLike) -> Scales:
        """Return the scales of real factors above zero."""
        exact = np.atleast_1d(np.asarray(factors, np.float64))
        _, exponent = np.frexp(exact)
        shift = np.clip(_MULTIPLIER_BITS - exponent, 1, _MOST_SHIFT)
        largest = (1 << _MULTIPLIER_BITS) - 1
        multiplier = np.clip(rounded(np.ldexp(exact, shift)), 1, largest)
        return cls(multiplier.astype(np.int64), shift.astype(np.int64))


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredRecurrent(LoweredCall):
    """`bias` is (2, columns) with 20 fraction bits; tables have 257 knots.

    `of_hidden` makes distances of output codes from those of an initial hidden state, and
    `cell_factor` a cell of the code of an initial one.
    """

    cell: Cell
    direction: Direction
    initial: tuple[str, ...]
    resets_late: bool
    weights: Weights
    recurrence: Weights
    of_input: Scales
    of_state: Scales
    of_output: Scales
    bias: Int64
    sigmoid: Int64
    tanh: Int64
    of_hidden: Scales
    cell_factor: int


def lower_recurrent(layer: Recurrent, source: QuantizedSource) -> LoweredRecurrent:
    """Turn a recurrent layer into integers; HexsimError for weights of more than 8 bits."""
    call = source.operands(layer)
    weights = lower_weights(layer.weight, layer, source)
    recurrence = lower_weights(layer.recurrence, layer, source)
    if max(weights.bits, recurrence.bits) > _WIDEST_WEIGHT:
        raise HexsimError(
            f"layer '{layer.name}': the integer kernel multiplies by weights of up to "
            f"{_WIDEST_WEIGHT} bits; quantise with {spelled('weight_bits', 8)}"
        )
    states = dict(zip(layer.initial, call.inputs[1:], strict=True))
    unit, cell, hidden = 2.0**SUM_BITS, states.get("cell"), states.get("hidden", call.output)
    bias = np.zeros((2, layer.columns)) if layer.bias is None else source.real(layer.bias)
    return LoweredRecurrent(
        *call,
        cell=layer.cell,
        direction=layer.direction,
        initial=layer.initial,
        resets_late=layer.resets_late,
        weights=weights,
        recurrence=recurrence,
        of_input=Scales.of(call.inputs[0].delta * weights.steps * unit),
        of_state=Scales.of(call.output.delta * recurrence.steps * unit),
        of_output=Scales.of(_OUTPUT_UNITS[layer.cell] / call.output.delta),
        bias=rounded(bias * unit).astype(np.int64),
        sigmoid=_knots(lambda x: 1 / (1 + np.exp(-x))),
        tanh=_knots(np.tanh),
        of_hidden=Scales.of(hidden.delta / call.output.delta),
        cell_factor=0 if cell is None else int(cell.delta * 2.0 ** (SUM_BITS + _CELL_BITS) + 0.5),
    )


_OUTPUT_UNITS: dict[Cell, float] = {"lstm": 2.0**-30, "gru": 2.0**-22, "rnn": 2.0**-15}


def _knots(function: Callable[[Real], Real]) -> Int64:
    """Return the values of a function at -8, -8 + 1/16, ... 8."""
    points = np.arange(_KNOTS + 1) / 16 - 8
    return np.minimum(rounded(function(points) * (1 << GATE_BITS)), _GATE_LIMIT).astype(np.int64)


LOWERINGS: Lowerings = {Recurrent: lower_recurrent}
