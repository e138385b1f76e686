"""Recurrent: LSTM, GRU or simple RNN over a sequence, in one or both directions."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Positive
from hexsim.graph.ir import Layer, NamedShapes, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.records import dataclass

Cell = Literal["lstm", "gru", "rnn"]
Direction = Literal["forward", "reverse", "bidirectional"]
State = Literal["hidden", "cell"]

GATES: Mapping[Cell, int] = {"lstm": 4, "gru": 3, "rnn": 1}
"""Rows of gates: i o f c of an LSTM, z r h of a GRU, in the order of ONNX."""


@dataclass(frozen=True, kw_only=True)
class Recurrent(Layer):
    """Steps x batch x inputs becomes steps x directions x batch x hidden, every hidden state.

    After the sequence, `inputs` has the states that `initial` names, of the shape directions x
    batch x hidden; other states begin at zero. `weight` is (inputs, directions * gates * hidden),
    `recurrence` (hidden, directions * gates * hidden), `bias` (2, directions * gates * hidden) or
    None: its rows are added to the products with the input, and with the state. If it
    `resets_late`, a GRU applies its reset gate after the product with the state, not before it.
    """

    type: ClassVar[str] = "recurrent"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = (3,)

    cell: Cell
    direction: Direction = "forward"
    hidden: Positive
    initial: tuple[State, ...] = ()
    weight: str
    recurrence: str
    bias: str | None = None
    resets_late: bool = False

    @property
    def operands(self) -> tuple[int, int]:
        """The sequence and the initial states."""
        return 1 + len(self.initial), 1 + len(self.initial)

    def fault(self) -> str | None:
        """Return a fault if its initial states are not those of its cell."""
        known = ("hidden", "cell") if self.cell == "lstm" else ("hidden",)
        if len(set(self.initial)) < len(self.initial) or set(self.initial) - {*known}:
            return f"field 'initial' is {self.initial}; expected each of {known} at most once"
        return None

    @property
    def directions(self) -> int:
        """One or two."""
        return 2 if self.direction == "bidirectional" else 1

    @property
    def columns(self) -> int:
        """Gates of all units and directions."""
        return self.directions * GATES[self.cell] * self.hidden

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (steps, directions, batch, hidden)."""
        steps, batch, _ = inputs[0]
        state = (self.directions, batch, self.hidden)
        if any(shape != state for shape in inputs[1:]):
            raise InvalidDataError(f"initial states of the shapes {inputs[1:]}, not {state}")
        return ((steps, self.directions, batch, self.hidden),)

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the cell."""
        return self.cell

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return those of both products of every step."""
        steps, batch, size = inputs[0]
        return steps * batch * (size + self.hidden) * self.columns

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        shapes = (
            (self.weight, (inputs[0][-1], self.columns)),
            (self.recurrence, (self.hidden, self.columns)),
        )
        return shapes if self.bias is None else (*shapes, (self.bias, (2, self.columns)))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Weight, recurrence, bias."""
        names = (self.weight, self.recurrence)
        return names if self.bias is None else (*names, self.bias)
