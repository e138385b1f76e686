"""Normalisation: a pass that sums codes and their squares, and one that scales.

The first adds raw codes, because zero points are subtracted from the sums. The second computes in
words the steps of the contract (docs/reference/arithmetic.md): distance times number minus sum,
times the reciprocal root, times the factor, then the requantise stage.

Codes of 16 bits are split in bytes for their sums, because their squares would not fit words, and
scaled as halfwords minus 2^15.

Left out: sums across lanes, the integer root and its reciprocal, scalar code for each statistic. No
hand-written kernel is known.

Local response normalisation over channels: x / (k + alpha sum x^2)^beta.

Each vector of 128 codes is squared to 32-bit words (four vectors). A window sum over neighbouring
channels takes two shifts of every vector across the slices for each step of the radius. The power
is exp2(-beta log2(.)) with quadratic interpolation in 32-bit fixed point, multiplied by x.
One vector is finished before the next begins, as in Hexagon NN.

Softmax over the last axis, in the passes of Hexagon NN: maximum, exponential, sum, scale.

The exponential is computed as a power of two: its fraction by a quadratic in 16 bits, its integer
part by a shift of 32-bit words, which are added up. Between the passes the maximum and the sum are
reduced inside vectors, and the reciprocal of the sum is found by Newton's steps. Hexagon NN has it
in C, whose loops are not pipelined.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Segment, Stream, call, requantize, tiled

_BEFORE = (Insn("loop0", "", ("vectors",)),)


@tiled("normalisation: sums", before=_BEFORE)
def sums(s: Stream) -> None:
    """Add a vector of 128 codes to the sums."""
    s("load", "x", "x_in")
    s("dot.ub.Rub.acc", "sum", "x", "ones")
    s("dot.ub.ub.acc", "squares", "x", "x")


@tiled("normalisation: scale", before=_BEFORE)
def scaled(s: Stream) -> None:
    """Normalise a vector of 128 codes."""
    s("load", "x", "x_in")
    s("sub.ub.h", "distance", "x", "zero")
    words = []
    for half in ("lo", "hi"):
        s("mpy.h.h", f"many_{half}", f"distance.{half}", "number")
        for part in ("lo", "hi"):
            words.append(_normalised(s, f"many_{half}.{part}", f"{half}_{part}"))
    s("store.new", "", "output", requantize(s, words, "out", track=False))


@tiled("normalisation: scale by channel", before=_BEFORE)
def scaled_by_channel(s: Stream) -> None:
    """Normalise a vector whose statistics are those of its channels, in 16 bits: the reciprocal
    root and the factor of a channel are one factor, its distance and the offset one offset."""
    s("load", "x", "x_in")
    s("sub.ub.h", "x16", "x", "zero")
    for half in ("lo", "hi"):
        s("mpy.h.h.frac", f"coarse_{half}", f"x16.{half}", "factors")
        s("mpy.h.h.frac", f"fine_{half}", f"x16.{half}", "fractions")
        s("add.h.sat", f"both_{half}", f"coarse_{half}", f"fine_{half}")
        s("add.h.sat", f"t_{half}", f"both_{half}", "offsets")
    s("asr.h.ub.rnd", "out", "t_hi", "t_lo", "shift")
    s("store.new", "", "output", "out")


@tiled("normalisation: sums, 16 bits", before=_BEFORE)
def wide_sums(s: Stream) -> None:
    """Add 128 codes of 16 bits to the sums of bytes, of their squares and of mixed products."""
    for half in ("lo", "hi"):
        s("load", f"x{half}", "x_in")
    s("shuffe.b", "low", "xhi", "xlo")
    s("shuffo.b", "high", "xhi", "xlo")
    for byte in ("low", "high"):
        s("dot.ub.Rub.acc", f"{byte}_sum", byte, "ones")
        s("dot.ub.ub.acc", f"{byte}_squares", byte, byte)
    s("dot.ub.ub.acc", "crossed", "high", "low")


@tiled("normalisation: scale, 16 bits", before=_BEFORE, pixels=2)
def wide_scaled(s: Stream) -> None:
    """Normalise a vector of 64 codes of 16 bits."""
    s("load", "x", "x_in")
    s("xor", "signed", "x", "sign")
    s("mpy.h.h", "many", "signed", "number")
    scaled = []
    for part in ("lo", "hi"):
        word = _normalised(s, f"many.{part}", part)
        s("asl.w.R", f"s_{part}", word, "shift")
        s("mpye", f"y_{part}", f"s_{part}", "multiplier")
        scaled.append(s("mpyo.acc", f"y_{part}", f"s_{part}", "multiplier"))
    s("pack.w.h", "packed", scaled[1], scaled[0])
    s("xor", "out", "packed", "sign")
    s("store", "", "output", "out")


def _normalised(s: Stream, many: str, name: str) -> str:
    """Turn words of code times number into words of the accumulator; return their name."""
    s("sub.w", f"d_{name}", many, "sum")
    s("mpye", f"t_{name}", f"d_{name}", "reciprocal")
    s("mpyo.acc", f"t_{name}", f"d_{name}", "reciprocal")
    s("mpye", f"a_{name}", f"t_{name}", "factors")
    s("mpyo.acc", f"a_{name}", f"t_{name}", "factors")
    return s("add.w", f"acc_{name}", f"a_{name}", "offsets")


@lru_cache(maxsize=16)
def local_response_norm_vector(machine: HvxMachine, radius: int) -> Kernel:
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


_HALVES = ("lo", "hi")
_NEWTON_STEPS = 3
D32_STEPS = (5, 3)
"""Halvings of a maximum among 32 bytes, and of a sum among eight words."""
FLAT_STEPS = (6, 5)
"""The same in a flat vector that holds two rows of codes."""


@lru_cache(maxsize=16)
def softmax_vector(machine: HvxMachine, *, flat: bool = False) -> Kernel:
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
