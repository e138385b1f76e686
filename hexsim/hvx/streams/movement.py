"""Elements moved in flat memory, 128 bytes of the result at a time.

Four loops, for the ways in which such vectors can come about:

- Runs of at least a vector lie anywhere in the source: an unaligned load and a store.
- Shorter runs: each is loaded from where it begins and shifted in from above (`valign` by the
  length of a run), so a vector of n runs takes n unaligned loads.
- Many short runs out of few vectors: each of these goes through a network (`vdelta` and `vrdelta`,
  which together permute and repeat bytes as they like), and what is not wanted is masked away. The
  controls of the networks depend on the shapes alone and are read from memory.
- Rows that become columns, byte by byte: a block of 128 x 128 bytes is turned over in seven steps,
  each of which shuffles pairs of vectors. Sixteen vectors go through four steps in registers, so
  that a block is read and written twice; the step too many is counted.

No hand-written kernels are known: Hexagon NN moves short runs in C. The loops are ours.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import (
    Kernel,
    Segment,
    call,
    pipelined_segments,
    tile_loop,
)
from hexsim.hvx.streams._stream import Stream

VECTOR_BYTES = 128
_HELD = 16
"""Vectors in registers at a time, half of them."""
_STEPS_HELD = 4
"""Steps among these."""
_PASSES = 2
"""Four steps each, of which seven are needed."""


@lru_cache(maxsize=16)
def rows(machine: HvxMachine) -> Kernel:
    """Runs of a vector or more."""
    s = Stream()
    s("loadu", "x", "x_in")
    s("store", "", "output", "x")
    return tile_loop("move rows", machine, s.insns)


@lru_cache(maxsize=256)
def runs(machine: HvxMachine, count: int) -> Kernel:
    """A vector of `count` runs."""
    s, tail, head = Stream(), Stream(), Stream()
    s("loadu", "x", "run")
    s("align", "out", "x", "out", "length")
    s("r.add", "run", "run", "step")
    tail("store", "", "output", "out")
    head("r.mov", "run", "start")
    head("loop0", "", "runs")
    made = pipelined(machine, s.insns, count, tail.insns, head.insns)
    return Kernel("move runs", machine, pipelined_segments("runs", made), call=call(machine))


@lru_cache(maxsize=256)
def networks(machine: HvxMachine, sources: int) -> Kernel:
    """A vector out of `sources` vectors."""
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
    made = pipelined(machine, s.insns, sources, tail.insns, head.insns)
    stretches = pipelined_segments("networks", made)
    return Kernel("move through networks", machine, stretches, call=call(machine))


@lru_cache(maxsize=16)
def turned(machine: HvxMachine) -> Kernel:
    """Sixteen vectors of a block of 128 x 128 bytes that is turned over."""
    s = Stream()
    held = [s("load", f"x{k}", "block") for k in range(_HELD)]
    for step in range(_STEPS_HELD):
        apart, made = 1 << step, list(held)
        for low in (k for k in range(_HELD) if not k & apart):
            pair = s("shuff.pair", f"p{step}_{low}", held[low | apart], held[low], f"by{step}")
            made[low], made[low | apart] = f"{pair}.lo", f"{pair}.hi"
        held = made
    for value in held:
        s("store", "", "turned", value)
    code = straight(machine, s.insns)
    tile = (Segment("four steps", code, _PASSES, code.length),)
    return Kernel("turn blocks over", machine, tile, call=call(machine), pixels=_HELD * 4)


def moved(machine: HvxMachine, run: int, sources: int) -> Kernel:
    """The loop for runs of `run` bytes, a vector of the result being out of `sources` vectors."""
    if run >= VECTOR_BYTES:
        return rows(machine)
    count = -(-VECTOR_BYTES // run)
    one_by_one, at_once = runs(machine, count), networks(machine, sources)
    return min(one_by_one, at_once, key=lambda kernel: kernel.cost.tile)
