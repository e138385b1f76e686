"""Packs a computed matrix in the layout of the weights of a fully connected layer.

A vector of that layout has four inputs of 32 outputs. Rows of neighbouring outputs are interleaved
four at a time; rows of neighbouring inputs are transposed by words. Both also sum up the correction
of every output for the zero point of the other operand.

No hand-written kernel is known: the instructions are those of the layout changes of Hexagon NN.
"""

from hexsim.hvx.streams._kernel import tiled
from hexsim.hvx.streams._stream import Stream

ROWS = 4
"""Rows of outputs that are interleaved at a time."""
OUTPUTS = 32
"""Rows of inputs that are transposed at a time, four words from each."""
_TURNED = 4


@tiled("weave rows", pixels=ROWS)
def interleave(s: Stream) -> None:
    """Interleave four rows of 128 outputs to four vectors of 32 outputs and four inputs."""
    for k in range(ROWS):
        s("load", f"x{k}", f"row{k}")
    s("shuff.pair", "a", "x1", "x0", "byte")
    s("shuff.pair", "b", "x3", "x2", "byte")
    s("shuff.pair", "c", "b.lo", "a.lo", "halfword")
    s("shuff.pair", "d", "b.hi", "a.hi", "halfword")
    for k, part in enumerate(("c.lo", "c.hi", "d.lo", "d.hi")):
        s("dot.ub.Rub.acc", f"sum{k}", part, "ones")
        s("store", "", f"out{k}", part)


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


@tiled("row sums", pixels=1)
def row_sums(s: Stream) -> None:
    """Add a vector of the left operand to the sum of its row."""
    s("load", "x", "row")
    s("dot.ub.Rub.acc", "sum", "x", "ones")
