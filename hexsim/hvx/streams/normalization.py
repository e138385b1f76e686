"""Normalisation: a pass that adds codes and squares up, and one that scales.

The first adds raw codes, since zero points come off the sums. The second does in words what the
contract does (docs/reference/arithmetic.md): distance times number minus sum, times the reciprocal
root, times the factor, then the tail.

Left out: sums across lanes, the integer root and its reciprocal, scalar code for each statistic. No
hand-written kernel is known.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import Machine
from hexsim.hvx.packets import Insn
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.streams._kernel import Kernel, Stretch, call, row_stretches
from hexsim.hvx.streams._requantize import requantize
from hexsim.hvx.streams._stream import Stream

_MANY = 64


@lru_cache(maxsize=16)
def sums(machine: Machine) -> Kernel:
    """One vector of 128 codes added to the sums."""
    s = Stream()
    s("load", "x", "x_in")
    s("dot.ub.Rub.acc", "sum", "x", "ones")
    s("dot.ub.ub.acc", "squares", "x", "x")
    return _pass("normalisation: sums", machine, s)


@lru_cache(maxsize=16)
def scaled(machine: Machine) -> Kernel:
    """One vector of 128 codes normalised."""
    s = Stream()
    s("load", "x", "x_in")
    s("sub.ub.h", "distance", "x", "zero")
    words = []
    for half in ("lo", "hi"):
        s("mpy.h.h", f"many_{half}", f"distance.{half}", "number")
        for part in ("lo", "hi"):
            name = f"{half}_{part}"
            s("sub.w", f"d_{name}", f"many_{half}.{part}", "sum")
            s("mpye", f"t_{name}", f"d_{name}", "reciprocal")
            s("mpyo.acc", f"t_{name}", f"d_{name}", "reciprocal")
            s("mpye", f"a_{name}", f"t_{name}", "factors")
            s("mpyo.acc", f"a_{name}", f"t_{name}", "factors")
            words.append(s("add.w", f"acc_{name}", f"a_{name}", "offsets"))
    s("store.new", "", "output", requantize(s, words, "out", track=False))
    return _pass("normalisation: scale", machine, s)


def _pass(name: str, machine: Machine, s: Stream) -> Kernel:
    made = pipelined(machine, s.insns, _MANY, (), (Insn("loop0", "", ("vectors",)),))
    tile = (Stretch("loop", made.loop, 1, made.loop.interval),)
    return Kernel(name, machine, tile, row_stretches("", made), call(machine))
