"""Softmax over the last axis, in the passes of Hexagon NN: maximum, exponential, sum, scale.

The exponential is computed as a power of two: its fraction by a quadratic in 16 bits, its integer
part by a shift of 32-bit words, which are added up. Between the passes the maximum and the sum are
reduced inside vectors, and the reciprocal of the sum is found by Newton's steps. Hexagon NN has it
in C, whose loops are not pipelined.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Segment, call
from hexsim.hvx.streams._stream import Stream

_HALVES = ("lo", "hi")
_NEWTON_STEPS = 3
D32_STEPS = (5, 3)
"""Halvings of a maximum among 32 bytes, and of a sum among eight words."""
FLAT_STEPS = (6, 5)
"""The same in a flat vector that holds two rows of codes."""


@lru_cache(maxsize=16)
def vector(machine: HvxMachine, *, flat: bool = False) -> Kernel:
    """Run all passes for one vector of 128 codes.

    A flat row is unaligned, and interleaved with a second row, or with nothing: it has twice the
    exponentials.
    """
    largest, exponential, scale = Stream(), Stream(), Stream()
    if flat:
        rows = [largest("loadu", f"x{k}", f"row{k}") for k in range(2)]
        largest("shuffoe.b", "mixed", *rows)
        for half in _HALVES:
            largest("max.ub", "largest", "largest", f"mixed.{half}")
    else:
        largest("load", "x", "x_in")
        largest("max.ub", "largest", "largest", "x")
    _exponential(exponential, flat=flat)
    for half in _HALVES:
        scale("load", f"e{half}", "exps")
    if flat:
        scale("deal.pair", "apart", "ehi", "elo", "halfwords")
    for half in _HALVES:
        scale("mpy.h.h.frac", f"y{half}", f"apart.{half}" if flat else f"e{half}", "reciprocal")
    for k in range(2):
        scale("asr.w.h.rnd", f"h{k}", "yhi", "ylo", "shift")
    scale("pack.h.ub", "out", "h1", "h0")
    scale("storeu" if flat else "store", "", "output", "out")
    passes = (
        ("maximum", largest, 1),
        ("exponential", exponential, 2 if flat else 1),
        ("scale", scale, 1),
    )
    tile = []
    for name, s, times in passes:
        code = straight(machine, s.insns)
        tile.append(Segment(name, code, times, code.length))
    name = "softmax, flat" if flat else "softmax"
    return Kernel(name, machine, tuple(tile), call=call(machine))


def _exponential(s: Stream, *, flat: bool) -> None:
    """Emit 2^(-beta (largest - x)) of 128 codes, as halfwords that are stored, and their sum."""
    if flat:
        rows = [s("loadu", f"x{k}", f"row{k}") for k in range(2)]
        s("shuff.pair", "mixed", *rows, "bytes")
        s("mov", "x", "mixed.lo")
    else:
        s("load", "x", "x_in")
    s("sub.ub.sat", "below", "largest", "x")
    s("zxt.ub", "wide", "below")
    for half in _HALVES:
        s("mpy.uh.Ruh", f"power{half}", f"wide.{half}", "beta")
        for part in _HALVES:
            name = f"{half}{part}"
            s("lsr.uw.R", f"integer{name}", f"power{half}.{part}", "sixteen")
        s("shuff.pair", f"split{half}", f"power{half}.hi", f"power{half}.lo", "halfwords")
        s("and", f"fraction{half}", f"split{half}.lo", "mask")
        s("mpy.h.h.frac", f"square{half}", f"fraction{half}", "curve")
        s("add.h", f"slope{half}", f"square{half}", "line")
        s("mpy.h.h", f"mantissa{half}", f"fraction{half}", f"slope{half}")
        for part in _HALVES:
            name = f"{half}{part}"
            s("add.w", f"one{name}", f"mantissa{half}.{part}", "one")
            s("lsr.w.w", f"e{name}", f"one{name}", f"integer{name}")
            s("add.w", "sum", "sum", f"e{name}")
        s("pack.w.h", f"e16{half}", f"e{half}hi", f"e{half}lo")
        s("store", "", "exps", f"e16{half}")


@lru_cache(maxsize=16)
def statistics(machine: HvxMachine, steps: tuple[int, int]) -> Kernel:
    """Reduce the maximum and the sum of a row inside their vectors, and find the reciprocal."""
    across, adding, division = Stream(), Stream(), Stream()
    largest = across("and", "masked", "running", "channels")
    for step in range(steps[0]):
        across("shuff.pair", f"turned{step}", largest, largest, f"by{step}")
        largest = across("max.ub", f"largest{step}", f"turned{step}.lo", f"turned{step}.hi")
    total = "sum"
    for step in range(steps[1]):
        adding("shuff.pair", f"moved{step}", total, total, f"by{step}")
        total = adding("add.w", f"total{step}", f"moved{step}.lo", f"moved{step}.hi")
    division("cl0.uw", "shift", "total")
    division("asl.w.w", "mantissa", "total", "shift")
    guess = division("sub.h", "guess", "first", "mantissa")
    for step in range(_NEWTON_STEPS):
        division("mpy.h.h.frac", f"product{step}", "mantissa", guess)
        division("sub.h", f"error{step}", "two", f"product{step}")
        guess = division("mpy.h.h.frac", f"guess{step}", guess, f"error{step}")
    division("mpy.h.h.frac", "reciprocal", guess, "largest_code")
    tile = []
    for name, s in (("maximum", across), ("sum", adding), ("reciprocal", division)):
        code = straight(machine, s.insns)
        tile.append(Segment(name, code, 1, code.length))
    return Kernel("softmax: reciprocal", machine, tuple(tile), call=call(machine))
