"""Fully connected: 32 outputs, with the inputs of one or two items of a batch as scalars.

With a batch of one every vector of weights is used once, so one load per packet is the limit.

Packs a computed matrix in the layout of the weights of a fully connected layer.

A vector of that layout has four inputs of 32 outputs. Rows of neighbouring outputs are interleaved
four at a time; rows of neighbouring inputs are transposed by words. Both also sum up the correction
of every output for the zero point of the other operand.

No hand-written kernel is known: the instructions are those of the layout changes of Hexagon NN.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._code import listed_code
from hexsim.hvx.streams._kernel import Kernel, Stream, looped, tiled

INPUTS = 16  # per loop pass
NOTE = "the hand-written tail was inferred from its file size; ours overlaps the next outputs"


ROWS = 4
"""Rows of outputs that are interleaved at a time."""
OUTPUTS = 32
"""Rows of inputs that are transposed at a time, four words from each."""
_TURNED = 4


@tiled("turn rows over", pixels=_TURNED)
def turned(s: Stream) -> None:
    """Transpose words between 32 rows of inputs, of which a pass handles four vectors.

    Four vectors need two steps of exchanges, all 32 need five. To cover these, a pass has five
    steps of exchanges for its four vectors.
    """
    parts = [s("load", f"x{k}", f"row{k}") for k in range(_TURNED)]
    for step in range(5):
        upper = []
        for k in range(0, _TURNED, 2):
            pair = s("shuff.pair", f"p{step}_{k}", parts[k + 1], parts[k], f"words{step}")
            upper += [f"{pair}.lo", f"{pair}.hi"]
        parts = [upper[0], upper[2], upper[1], upper[3]]
    for k, part in enumerate(parts):
        s("dot.ub.Rub.acc", "sum", part, "ones")
        s("store", "", f"out{k}", part)


@lru_cache(maxsize=256)
def outputs(machine: HvxMachine, inputs: int, rows: int) -> Kernel:
    """Compute 32 outputs of `rows` (1 or 2) items of the batch."""
    code = listed_code(
        "outputs",
        rows=", ".join(map(str, range(rows))),
        row_sums=", ".join(f"{row} {4 * row}" for row in range(rows)),
    )
    if rows > 1:
        code["loop"]("dcfetch", "", "in0", imm=128)
    name = "fully connected" + (f" batch {rows}" if rows > 1 else "")
    around = code["after"], code["before"]
    return looped(name, machine, "inputs", -(-inputs // INPUTS), code["loop"], around, note=NOTE)
