"""Normalisation: a pass that sums codes and their squares, and one that scales.

The first adds raw codes, because zero points are subtracted from the sums. The second computes in
words the steps of the contract (docs/reference/arithmetic.md): distance times number minus sum,
times the reciprocal root, times the factor, then the requantise stage.

Codes of 16 bits are split in bytes for their sums, because their squares would not fit words, and
scaled as halfwords minus 2^15.

Left out: sums across lanes, the integer root and its reciprocal, scalar code for each statistic. No
hand-written kernel is known.
"""

from hexsim.hvx.packets import Insn
from hexsim.hvx.streams._kernel import tiled
from hexsim.hvx.streams._requantize import requantize
from hexsim.hvx.streams._stream import Stream

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
