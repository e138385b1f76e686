"""Recurrent layers: each direction of each item of the batch goes through its steps separately."""

from typing import Any, NamedTuple

import numpy as np

from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.jit import inlined, template
from hexsim.int8.step import ROWS, Buffers, Preparers, Scratch, Step, Work
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.recurrent import GATE_BITS, KNOT_SHIFT, LoweredRecurrent, Scales
from hexsim.lowering.source import Weights

_CELLS = {"lstm": 0, "gru": 1, "rnn": 2}
_LSTM, _GRU = 0, 1
_INT16, _INT32 = (1 << 15) - 1, (1 << 31) - 1
_MOST_INITIAL = (1 << 17) - 1
"""The most that an initial hidden state is from zero, in output codes; sums stay within 64 bits."""


@record("int32[:,::1],int64[::1],int64[::1],int64[::1]")
class Product(NamedTuple):
    """Weights without zero point by columns, what scales their sums, and the bias."""

    weights: Int32
    multiplier: Int64
    shift: Int64
    bias: Int64


@record(",".join(["int64"] * 13))
class RecurrentRules(NamedTuple):
    """Zero points of input and output, the largest code, the scale of the output, and the form.

    `reversed_from` is the first direction that walks backwards.
    """

    zero_in: int
    zero_out: int
    most: int
    multiplier: int
    shift: int
    cell: int
    resets_late: int
    reversed_from: int
    zero_cell: int
    cell_factor: int
    zero_hidden: int
    hidden_multiplier: int
    hidden_shift: int


@record("Product,Product,int64[::1],int64[::1],RecurrentRules")
class RecurrentConstants(NamedTuple):
    """Everything that does not change from step to step."""

    of_input: Product
    of_state: Product
    sigmoid: Int64
    tanh: Int64
    rules: RecurrentRules


class PreparedRecurrent:
    """The weights and tables as the kernel reads them."""

    def __init__(self, call: LoweredRecurrent) -> None:
        _, self._directions, self._batch, self._hidden = call.output.shape
        self._places = {name: place for place, name in enumerate(call.initial, start=1)}
        cell, hidden = self._places.get("cell"), self._places.get("hidden")
        rules = RecurrentRules(
            call.inputs[0].zero_point,
            call.output.zero_point,
            call.output.encoding.steps,
            int(call.of_output.multiplier[0]),
            int(call.of_output.shift[0]),
            _CELLS[call.cell],
            int(call.resets_late),
            {"forward": 2, "reverse": 0, "bidirectional": 1}[call.direction],
            0 if cell is None else call.inputs[cell].zero_point,
            call.cell_factor,
            (call.output if hidden is None else call.inputs[hidden]).zero_point,
            int(call.of_hidden.multiplier[0]),
            int(call.of_hidden.shift[0]),
        )
        self._model = RecurrentConstants(
            _product(call.weights, call.of_input, call.bias[0]),
            _product(call.recurrence, call.of_state, call.bias[1]),
            call.sigmoid,
            call.tanh,
            rules,
        )
        self._zero_state = np.full(
            (self._directions * self._batch, self._hidden),
            call.output.zero_point,
            call.output.encoding.dtype,
        )

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        hidden, cell = (
            at.inputs[self._places[name]].reshape(self._zero_state.shape)
            if name in self._places
            else self._zero_state
            for name in ("hidden", "cell")
        )
        columns = self._model.of_input.weights.shape[1] // self._directions
        size = 3 * self._hidden + 2 * columns
        arguments = (
            at.inputs[0], hidden, cell, self._model, at.output, *ROWS, Scratch(size, np.int64),
        )  # fmt: skip
        return [Step(_walk(at.output.dtype), arguments, len(self._zero_state))]


def _product(weights: Weights, scales: Scales, bias: Int64) -> Product:
    distance = weights.codes.astype(np.int32) - np.int32(weights.zero_point)
    ones = np.ones(distance.shape[1], np.int64)
    return Product(
        np.ascontiguousarray(distance),
        scales.multiplier * ones,
        scales.shift * ones,
        np.ascontiguousarray(bias),
    )


@inlined
def _scaled(number: Any, multiplier: Any, shift: Any) -> Any:
    half = np.int64(1) << (shift - np.int64(1))
    return (number * multiplier + half) >> shift


@inlined
def _gate(total: Any, knots: Int64) -> Any:
    """Return a function of a sum, which has 20 fraction bits."""
    short = (total + np.int64(128)) >> np.int64(8)
    short = min(max(short, np.int64(-_INT16 - 1)), np.int64(_INT16))
    place = (short >> np.int64(KNOT_SHIFT)) + np.int64(128)
    rest = short & np.int64(255)
    below = knots[place]
    return below + (((knots[place + 1] - below) * rest + np.int64(128)) >> np.int64(KNOT_SHIFT))


@inlined
def _multiply(
    codes: Codes, zero_point: int, product: Product, start: int, first: int, sums: Int64
) -> None:
    """Compute a product's columns from `first` on, by those of the weights from `start` on."""
    last = sums.size
    for k in range(first, last):
        sums[k] = 0
    for i in range(codes.size):
        distance = np.int64(codes[i]) - zero_point
        line = product.weights[i, start:]
        for k in range(first, last):
            sums[k] += distance * np.int64(line[k])
    for k in range(first, last):
        at = start + k
        sums[k] = _scaled(sums[k], product.multiplier[at], product.shift[at]) + product.bias[at]


@inlined
def _lstm(k: int, p: Int64, q: Int64, cells: Int64, model: RecurrentConstants) -> Any:
    """Return the new state of a unit of an LSTM, counted from zero, not clamped."""
    units = cells.size
    i = _gate(p[k] + q[k], model.sigmoid)
    o = _gate(p[units + k] + q[units + k], model.sigmoid)
    f = _gate(p[2 * units + k] + q[2 * units + k], model.sigmoid)
    g = _gate(p[3 * units + k] + q[3 * units + k], model.tanh)
    total = (f * cells[k] + np.int64(1 << GATE_BITS - 1)) >> np.int64(GATE_BITS)
    total += (i * g + np.int64(512)) >> np.int64(10)
    cells[k] = min(max(total, np.int64(-_INT32 - 1)), np.int64(_INT32))
    state = o * _gate(cells[k], model.tanh)
    return _scaled(state, model.rules.multiplier, model.rules.shift)


@inlined
def _gru(k: int, p: Int64, q: Int64, state: Int64, model: RecurrentConstants) -> Any:
    """Return the same of a GRU."""
    units = state.size
    z = _gate(p[k] + q[k], model.sigmoid)
    new_gate = q[2 * units + k]
    if model.rules.resets_late:
        r = _gate(p[units + k] + q[units + k], model.sigmoid)
        new_gate = (r * new_gate + np.int64(1 << GATE_BITS - 1)) >> np.int64(GATE_BITS)
    n = _gate(p[2 * units + k] + new_gate, model.tanh)
    share = (np.int64(1 << GATE_BITS) - z) * n
    fresh = _scaled(share, model.rules.multiplier, model.rules.shift)
    old = (z * state[k] + np.int64(64)) >> np.int64(7)
    return (fresh + old + np.int64(128)) >> np.int64(8)


@inlined
def _of_state(
    state: Int64, reset: Int64, model: RecurrentConstants, start: int, p: Int64, q: Int64
) -> None:
    """Compute the product with the state; an early reset gate first scales it for new gates."""
    units = state.size
    if model.rules.cell != _GRU or model.rules.resets_late != 0:
        _multiply(state, 0, model.of_state, start, 0, q)
        return
    _multiply(state, 0, model.of_state, start, 0, q[: 2 * units])
    for k in range(units):
        gate = _gate(p[units + k] + q[units + k], model.sigmoid)
        reset[k] = (gate * state[k] + np.int64(1 << GATE_BITS - 1)) >> np.int64(GATE_BITS)
    _multiply(reset, 0, model.of_state, start, 2 * units, q)


@template(
    "void({0}[:,:,::1],{0}[:,::1],{0}[:,::1],RecurrentConstants,{0}[:,:,:,::1],int64,int64,int64[::1])"
)
def _walk(
    x: Codes,
    hidden: Codes,
    initial_cell: Codes,
    model: RecurrentConstants,
    out: Codes,
    first: int,
    last: int,
    scratch: Int64,
) -> None:
    rules, (steps, _, batch, units) = model.rules, out.shape
    columns = model.of_input.weights.shape[1] // out.shape[1]
    state, cells = scratch[:units], scratch[units : 2 * units]
    new = scratch[2 * units : 3 * units]
    p = scratch[3 * units : 3 * units + columns]
    q = scratch[3 * units + columns : 3 * units + 2 * columns]
    for row in range(first, last):
        direction, item = row // batch, row % batch
        start = direction * columns
        for k in range(units):
            distance = np.int64(hidden[row, k]) - rules.zero_hidden
            distance = _scaled(distance, rules.hidden_multiplier, rules.hidden_shift)
            state[k] = min(max(distance, np.int64(-_MOST_INITIAL)), np.int64(_MOST_INITIAL))
            distance = np.int64(initial_cell[row, k]) - rules.zero_cell
            cells[k] = (distance * rules.cell_factor + np.int64(1 << 15)) >> np.int64(16)
        for turn in range(steps):
            step = steps - 1 - turn if direction >= rules.reversed_from else turn
            _multiply(x[step, item], rules.zero_in, model.of_input, start, 0, p)
            _of_state(state, new, model, start, p, q)
            for k in range(units):
                if rules.cell == _LSTM:
                    unit_state = _lstm(k, p, q, cells, model)
                elif rules.cell == _GRU:
                    unit_state = _gru(k, p, q, state, model)
                else:
                    gate = _gate(p[k] + q[k], model.tanh)
                    unit_state = _scaled(gate, rules.multiplier, rules.shift)
                code = min(max(rules.zero_out + unit_state, np.int64(0)), rules.most)
                new[k] = code - rules.zero_out
                out[step, direction, item, k] = code
            for k in range(units):
                state[k] = new[k]


PREPARERS: Preparers = {LoweredRecurrent: PreparedRecurrent}
