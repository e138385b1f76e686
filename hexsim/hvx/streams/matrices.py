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
from hexsim.hvx.streams._kernel import Kernel, Stream, looped, tiled

INPUTS = 16  # per loop pass
NOTE = "the hand-written tail was inferred from its file size; ours overlaps the next outputs"


@lru_cache(maxsize=256)
def outputs(machine: HvxMachine, inputs: int, rows: int) -> Kernel:
    """Compute 32 outputs of `rows` (1 or 2) items of the batch."""
    s = Stream()
    for r in range(rows):
        for k in range(2):
            last = k == 1
            s("r.loadd" if last else "r.loadd.at", f"x{r}{k}", f"in{r}", imm=INPUTS if last else 0)
    for k in range(INPUTS // 4):
        s("load", f"w{k}", "weights")
        half = "hi" if k % 2 else "lo"
        for r in range(rows):
            s("dot.ub.Rub.acc", f"acc{r}", f"w{k}", f"x{r}{k // 2}.{half}")
    if rows > 1:
        s("dcfetch", "", "in0", imm=128)
    tail, head = Stream(), Stream()
    for r in range(rows):
        tail("asl.w.R", f"moved{r}", f"acc{r}", "shift")
        tail("mpye", f"scaled{r}", f"moved{r}", "multiplier")
        tail("mpyo.acc", f"scaled{r}", f"moved{r}", "multiplier")
        tail("max.w", "largest", "largest", f"acc{r}")
        tail("min.w", "smallest", "smallest", f"acc{r}")
        tail("pack.w.h", f"half{r}", f"scaled{r}", f"scaled{r}")
        tail("pack.h.ub", f"out{r}", f"half{r}", f"half{r}")
        tail("storeu", "", f"output{r}", f"out{r}")
        head("r.loadw.at", f"sum{r}", "sums", imm=4 * r)
        head("splat", f"s{r}", f"sum{r}")
        head("load", f"bias{r}", "biases")
        head("add.w", f"acc{r}", f"s{r}", f"bias{r}")
        head("r.mov", f"in{r}", f"start{r}")
    head("loop0", "", "steps")
    name = "fully connected" + (f" batch {rows}" if rows > 1 else "")
    return looped(name, machine, "inputs", -(-inputs // INPUTS), s, (tail, head), note=NOTE)


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
