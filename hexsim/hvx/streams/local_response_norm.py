"""Local response normalisation over channels: x / (k + alpha sum x^2)^beta.

Each vector of 128 codes is squared to 32-bit words (four vectors). A window sum over neighbouring
channels takes two shifts of every vector across the slices for each step of the radius. The power
is exp2(-beta log2(.)) with quadratic interpolation in 32-bit fixed point, multiplied by x.
One vector is finished before the next begins, as in Hexagon NN.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Segment, call
from hexsim.hvx.streams._stream import Stream


@lru_cache(maxsize=16)
def vector(machine: HvxMachine, radius: int) -> Kernel:
    """Compute one vector of outputs; radius: neighbours on either side."""
    s = Stream()
    s("load", "x", "x_in")
    s("sub.ub.h", "x16", "x", "zero")
    squares = []
    for half in ("lo", "hi"):
        s("mpy.h.h", f"square{half}", f"x16.{half}", f"x16.{half}")
        squares += [f"square{half}.lo", f"square{half}.hi"]
    for k, square in enumerate(squares):
        s("store.at", "", "squares", square, imm=k)
        s("mov", f"sum{k}", square)
    s("r.movi", "bytes", imm=4)
    for step in range(radius):
        _neighbours(s, squares, step)
    for k in range(4):
        _power(s, k)
    for k in range(2):
        s("pack.w.h", f"half{k}", f"scaled{2 * k + 1}", f"scaled{2 * k}")
    s("pack.h.ub", "out", "half1", "half0")
    s("store.new", "", "output", "out")
    code = straight(machine, s.insns)
    tile = (Segment("vector", code, 1, code.length),)
    return Kernel(f"LRN radius {radius}", machine, tile, call=call(machine))


def _neighbours(s: Stream, squares: list[str], step: int) -> None:
    """Add the channels `step` further on both sides; neighbouring slices are in memory."""
    for k, square in enumerate(squares):
        name = f"{k}_{step}"
        s("load.at", f"before{name}", "squares", imm=k - 4)
        s("lalign", f"left{name}", square, f"before{name}", "bytes")
        s("add.w", f"sum{k}", f"sum{k}", f"left{name}")
        s("load.at", f"after{name}", "squares", imm=k + 4)
        s("align", f"right{name}", f"after{name}", square, "bytes")
        s("add.w", f"sum{k}", f"sum{k}", f"right{name}")
    s("r.addi", "bytes", "bytes", imm=4)


def _power(s: Stream, k: int) -> None:
    """Turn a vector of 32 window sums into x (k + alpha sum)^-beta."""

    def multiplied(name: str, a: str, b: str) -> str:
        s("mpye", name, a, b)
        return s("mpyo.acc", name, a, b)

    s("asl.w.R", f"scaled_sum{k}", f"sum{k}", "alpha_shift")
    base = s("add.w", f"base{k}", multiplied(f"product{k}", f"scaled_sum{k}", "alpha"), "k")
    s("cl0.uw", f"exponent{k}", base)
    s("asl.w.w", f"mantissa{k}", base, f"exponent{k}")
    s("sub.w", f"fraction{k}", f"mantissa{k}", "one")
    inner = s("add.w", f"slope{k}", multiplied(f"l2{k}", f"fraction{k}", "log_c2"), "log_c1")
    log = multiplied(f"log{k}", inner, f"fraction{k}")
    s("asl.w.R", f"whole{k}", f"exponent{k}", "sixteen")
    s("sub.w", f"log2_{k}", log, f"whole{k}")
    power = multiplied(f"power{k}", f"log2_{k}", "minus_beta")
    s("asr.w.R", f"integer{k}", power, "sixteen")
    s("and", f"part{k}", power, "part_mask")
    outer = s("add.w", f"line{k}", multiplied(f"e2{k}", f"part{k}", "exp_c2"), "exp_c1")
    curve = s("add.w", f"curve{k}", multiplied(f"e1{k}", outer, f"part{k}"), "one")
    factor = s("asr.w.w", f"factor{k}", curve, f"integer{k}")
    s("load.at", f"code{k}", "codes", imm=k)
    s("add.w", f"scaled{k}", multiplied(f"result{k}", factor, f"code{k}"), "offset")
