"""Recurrent layers over a sequence, both directions."""

from hexsim.graph.ir import Shape
from hexsim.layers import Recurrent
from hexsim.layers.recurrent import Cell
from hexsim.studies.probes._kind import KernelKind, Kinds, Sizes, unary


def _recurrent(cell: Cell) -> KernelKind:
    def layer(sizes: Sizes) -> Recurrent:
        return unary(
            Recurrent,
            cell,
            cell=cell,
            direction="bidirectional",
            hidden=sizes["hidden"],
            weight="weight",
            recurrence="recurrence",
        )

    def parameters(sizes: Sizes) -> tuple[Shape, ...]:
        columns = layer(sizes).columns
        return (sizes["c"], columns), (sizes["hidden"], columns)

    return KernelKind(
        r"(?P<n>\d+)x(?P<c>\d+):(?P<hidden>\d+)",
        "80x288:64",
        layer,
        parameters,
        operands=lambda sizes: ((sizes["n"], 1, sizes["c"]),),
    )


KINDS: Kinds = {"lstm": _recurrent("lstm"), "gru": _recurrent("gru"), "rnn": _recurrent("rnn")}
