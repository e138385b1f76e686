"""Fully connected: 32 outputs, with the inputs of one or two items of a batch as scalars.

With a batch of one every vector of weights is used once, so one load per packet is the limit.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, looped
from hexsim.hvx.streams._stream import Stream

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
