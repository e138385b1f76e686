"""Quantises float32 inputs to u8: one pass for the range and one for the codes.

These vector units have no float arithmetic, so masks and shifts extract the parts of a float.
"""

from hexsim.hvx.streams._kernel import tiled
from hexsim.hvx.streams._stream import Stream

NOTE = "bounded by the shift pipe in both; ours takes the sign with a multiplex"


@tiled("float range", pixels=1)
def value_range(s: Stream) -> None:
    """Update the running maximum and minimum by 32 floats, compared as integers."""
    s("load", "x", "in")
    s("max.w", "largest", "largest", "x")
    s("xor", "negative", "x", "sign")
    s("max.w", "smallest", "smallest", "negative")


@tiled("float codes", note=NOTE)
def codes(s: Stream) -> None:
    """Convert 128 floats to 128 codes, by shifts of the mantissa and a fractional multiply."""
    for k in range(4):
        s("load", f"x{k}", "in")
        s("and", f"bits{k}", f"x{k}", "mantissa_mask")
        s("or", f"mantissa{k}", f"bits{k}", "implicit_one")
        s("asl.w.R", f"unsigned{k}", f"x{k}", "one")
        s("lsr.uw.R", f"exponent{k}", f"unsigned{k}", "twenty_four")
        s("sub.w", f"distance{k}", "reference", f"exponent{k}")
        s("lsr.w.w", f"fixed{k}", f"mantissa{k}", f"distance{k}")
        s("gt.w", f"negative{k}", "zero", f"x{k}")
        s("sub.w", f"opposite{k}", "zero", f"fixed{k}")
        s("mux", f"signed{k}", f"negative{k}", f"opposite{k}", f"fixed{k}")
        s("mpye", f"scaled{k}", f"signed{k}", "scale")
        s("mpyo.acc", f"scaled{k}", f"signed{k}", "scale")
        s("add.w", f"code{k}", f"scaled{k}", "offset")
    s("pack.w.h", "low", "code1", "code0")
    s("pack.w.h", "high", "code3", "code2")
    s("pack.h.ub", "out", "high", "low")
    s("store.new", "", "output", "out")
