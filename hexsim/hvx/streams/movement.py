"""Elements moved in flat memory, 128 bytes of the result at a time.

There are four loops, for different ways to assemble such vectors:

- Runs of at least a vector: an unaligned load and a store.
- Shorter runs: each is loaded from its start and shifted in from above (`valign` by the
  length of a run), so a vector of n runs takes n unaligned loads.
- Many short runs from few vectors: each source vector passes a network (`vdelta` and `vrdelta`,
  which together permute and repeat bytes in any order), and other bytes are masked. The
  controls of the networks depend on the shapes alone and are read from memory.
- Rows that become columns, byte by byte: a block of 128 x 128 bytes is transposed in seven steps,
  each of which shuffles pairs of vectors. Sixteen vectors pass four steps in registers, so
  that a block is read and written twice; the eighth step is not needed but counted.

No hand-written kernels are known: Hexagon NN moves short runs in C.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Segment, Stream, call, looped, tiled

VECTOR_BYTES = 128
_IN_REGISTERS = 16
"""Vectors in registers at a time, half of all registers."""
_STEPS = 4
"""Steps in which these vectors are shuffled."""
_PASSES = 2
"""Passes of four steps each; seven steps are needed."""


@tiled("move rows")
def rows(s: Stream) -> None:
    """Move runs of a vector or more."""
    s("loadu", "x", "x_in")
    s("store", "", "output", "x")


@lru_cache(maxsize=256)
def runs(machine: HvxMachine, count: int) -> Kernel:
    """Assemble a vector of `count` runs."""
    s, tail, head = Stream(), Stream(), Stream()
    s("loadu", "x", "run")
    s("align", "out", "x", "out", "length")
    s("r.add", "run", "run", "step")
    tail("store", "", "output", "out")
    head("r.mov", "run", "start")
    head("loop0", "", "runs")
    return looped("move runs", machine, "runs", count, s, (tail, head))


@lru_cache(maxsize=256)
def networks(machine: HvxMachine, sources: int) -> Kernel:
    """Assemble a vector from `sources` vectors."""
    s, tail, head = Stream(), Stream(), Stream()
    s("load", "x", "x_in")
    s("load", "first", "controls")
    s("load", "second", "controls")
    s("load", "mask", "controls")
    s("delta", "half", "x", "first")
    s("rdelta", "moved", "half", "second")
    s("and", "wanted", "moved", "mask")
    s("or", "out", "out", "wanted")
    tail("store", "", "output", "out")
    head("xor", "out", "zero", "zero")
    head("r.mov", "x_in", "start")
    head("r.mov", "controls", "table")
    head("loop0", "", "sources")
    return looped("move through networks", machine, "networks", sources, s, (tail, head))


@lru_cache(maxsize=16)
def transpose(machine: HvxMachine) -> Kernel:
    """Transpose sixteen vectors of a block of 128 x 128 bytes."""
    s = Stream()
    values = [s("load", f"x{k}", "block") for k in range(_IN_REGISTERS)]
    for step in range(_STEPS):
        apart, shuffled = 1 << step, list(values)
        for low in (k for k in range(_IN_REGISTERS) if not k & apart):
            pair = s("shuff.pair", f"p{step}_{low}", values[low | apart], values[low], f"by{step}")
            shuffled[low], shuffled[low | apart] = f"{pair}.lo", f"{pair}.hi"
        values = shuffled
    for value in values:
        s("store", "", "turned", value)
    code = straight(machine, s.insns)
    tile = (Segment("four steps", code, _PASSES, code.length),)
    return Kernel("turn blocks over", machine, tile, call=call(machine), pixels=_IN_REGISTERS * 4)


def move_loop(machine: HvxMachine, run: int, sources: int) -> Kernel:
    """Return the cheapest loop for runs of `run` bytes from `sources` vectors per result vector."""
    if run >= VECTOR_BYTES:
        return rows(machine)
    count = -(-VECTOR_BYTES // run)
    one_by_one, at_once = runs(machine, count), networks(machine, sources)
    return min(one_by_one, at_once, key=lambda kernel: kernel.cost.tile)
