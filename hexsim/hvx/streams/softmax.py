"""Softmax over the last axis, three passes over a row of codes.

They are the maximum, the exponential from a table of 16 bits (two byte tables) with the running
sum, and the scale by the reciprocal of the sum, which scalar code computes once per row. Hexagon NN
has it in C.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.streams._kernel import Kernel, Segment, call, row_segments
from hexsim.hvx.streams._stream import Stream

_MANY = 64
TABLE_PARTS = 8


@lru_cache(maxsize=16)
def vector(machine: HvxMachine) -> Kernel:
    """Run all three passes for one vector of 128 codes."""
    largest, exponential, scale = Stream(), Stream(), Stream()
    largest("load", "x", "x_in")
    largest("max.ub", "largest", "largest", "x")
    exponential("load", "x", "x_in")
    exponential("sub.ub.sat", "below", "largest", "x")
    for byte in ("low", "high"):
        exponential("lut32", byte, "below", f"{byte}0", "part0")
        for k in range(1, TABLE_PARTS):
            exponential("lut32.or", byte, "below", f"{byte}{k // 4}", f"part{k % 4}")
    exponential("shuffoe.b", "e", "high", "low")
    for half in ("lo", "hi"):
        exponential("mpy.uh.Ruh.acc", "sum", f"e.{half}", "one")
        exponential("store", "", "exps", f"e.{half}")
    for half in ("lo", "hi"):
        scale("load", f"e{half}", "exps")
        scale("mpy.h.h.frac", f"y{half}", f"e{half}", "reciprocal")
    scale("shuff.pair", "mixed", "yhi", "ylo", "bytes")
    scale("asr.h.ub.rnd", "out", "mixed.hi", "mixed.lo", "shift")
    scale("store.new", "", "output", "out")
    passes = (("maximum", largest), ("exponential", exponential), ("scale", scale))
    tile: list[Segment] = []
    row: list[Segment] = []
    for name, s in passes:
        pipelined_loop = pipelined(machine, s.insns, _MANY, (), (Insn("loop0", "", ("vectors",)),))
        tile.append(Segment(name, pipelined_loop.loop, 1, pipelined_loop.loop.interval))
        row += row_segments(f"{name}: ", pipelined_loop)
    return Kernel("softmax", machine, tuple(tile), tuple(row), call(machine))
