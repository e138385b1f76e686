"""Kernels with the same code for every vector: four pixels of 32 channels, or 128 codes."""

from hexsim.hvx.streams._kernel import Stream, tiled
from hexsim.hvx.streams._kernel import requantize as requantized

TABLE_PARTS = 8  # a table of 256 codes is eight tables of 32


def _halves() -> tuple[str, str]:
    return ("lo", "hi")


def _scale(s: Stream, half: str, source: str) -> None:
    """Scale half a vector in 16 bits and add the output's zero point."""
    s("mpy.h.h.frac", f"s{half}", source, "scale")
    s("add.h.sat", f"t{half}", f"s{half}", "offset")


def _store_scaled(s: Stream) -> None:
    """Bring both halves that `_scale` has made to codes, and store them."""
    s("asr.h.ub.rnd", "out", "thi", "tlo", "shift")
    s("store.new", "", "output", "out")


@tiled("add")
def add(s: Stream) -> None:
    """Add two tensors: each minus its zero point, scaled in 16 bits, added, saturated.

    As in Hexagon NN, the running minimum and maximum of the sum are computed too.
    """
    for name in ("x", "y"):
        s("load", name, name + "_in")
        s("sub.ub.h", f"{name}16", name, f"zero_{name}")
    for half in _halves():
        for name in ("x", "y"):
            s("mpy.h.h.frac", f"{name}s{half}", f"{name}16.{half}", f"scale_{name}")
        s("add.h.sat", f"sum{half}", f"xs{half}", f"ys{half}")
        s("add.h.sat", f"total{half}", f"sum{half}", "offset")
        s("max.h", "largest", "largest", f"sum{half}")
        s("min.h", "smallest", "smallest", f"sum{half}")
    s("sat.h.ub", "out", "totalhi", "totallo")
    s("store.new", "", "output", "out")


@tiled("multiply")
def multiply(s: Stream) -> None:
    """Multiply two tensors in 16 bits: products of codes, less each code times the other's zero
    point, then the scale."""
    for name in ("x", "y"):
        s("load", name, name + "_in")
        s("sub.ub.h", f"{name}16", name, "no_zero")
    s("mpy.ub.Rub", "corrections", "x", "zero_y")
    s("mpy.ub.Rub.acc", "corrections", "y", "zero_x")
    for half in _halves():
        s("mpy.h.h.frac", f"p{half}", f"x16.{half}", f"y16.{half}")
        s("sub.h", f"q{half}", f"p{half}", f"corrections.{half}")
        _scale(s, half, f"q{half}")
    _store_scaled(s)


@tiled("batch norm")
def batch_norm(s: Stream) -> None:
    """Scale the codes of each channel and add its offset, in 16 bits, then scale for the output."""
    s("load", "x", "x_in")
    s("sub.ub.h", "x16", "x", "zero")
    for half in _halves():
        s("mpy.h.h.frac", f"scaled{half}", f"x16.{half}", "factors")
        s("add.h.sat", f"sum{half}", f"scaled{half}", "offsets")
        _scale(s, half, f"sum{half}")
    _store_scaled(s)


@tiled("divide")
def divide(s: Stream) -> None:
    """Divide two tensors: a difference times the reciprocal of the other, requantised.

    The reciprocals of the 256 divisors are a table of 16 bits, stored as two of bytes, like the
    exponentials of a Softmax. Small divisors need more bits, which is left out of the cost.
    """
    s("load", "x", "x_in")
    s("load", "y", "y_in")
    s("sub.ub.h", "x16", "x", "zero_x")
    for byte in ("low", "high"):
        s("lut32", byte, "y", f"{byte}0", "part0")
        for k in range(1, TABLE_PARTS):
            s("lut32.or", byte, "y", f"{byte}{k // 4}", f"part{k % 4}")
    s("shuffoe.b", "r", "high", "low")
    words = []
    for half in _halves():
        s("mpy.h.h", f"p{half}", f"x16.{half}", f"r.{half}")
        words += [s("add.w", f"q{half}{k}", f"p{half}.{k}", "offset") for k in _halves()]
    s("store.new", "", "output", requantized(s, words, "out", track=False))


@tiled("rescale")
def rescale(s: Stream) -> None:
    """Convert codes of one encoding to another (concat, permuted inputs)."""
    s("load", "x", "x_in")
    s("xor", "signed", "x", "sign")
    s("shuffe.b", "xlo", "signed", "zero")  # the code is the high byte of 16 bits
    s("shuffo.b", "xhi", "signed", "zero")
    for half in _halves():
        _scale(s, half, f"x{half}")
    _store_scaled(s)


@tiled("copy")
def copy(s: Stream) -> None:
    """Copy vectors."""
    s("load", "x", "x_in")
    s("store", "", "output", "x")


@tiled("clamp")
def clamp(s: Stream) -> None:
    """Clamp, as for Relu: maximum and minimum with constants."""
    s("load", "x", "x_in")
    s("max.ub", "y", "x", "low")
    s("min.ub", "z", "y", "high")
    s("store.new", "", "output", "z")


@tiled("requantise")
def requantize(s: Stream) -> None:
    """Requantise int32 to u8: four vectors in, one out."""
    words = [s("load", f"x{k}", "x_in") for k in range(4)]
    s("store.new", "", "output", requantized(s, words, "out", track=False))


@tiled("prelu", note="Hexagon NN moves and masks more: its loop is C, and takes 7.5 packets")
def prelu(s: Stream) -> None:
    """Multiply negative codes by a slope per channel, in 16 bits; both signs have a scale."""
    s("load", "x", "x_in")
    s("sub.ub.h", "x16", "x", "zero")
    for half in _halves():
        s("max.h", f"up{half}", f"x16.{half}", "none")
        s("min.h", f"down{half}", f"x16.{half}", "none")
        s("mpy.h.h.frac", f"slope{half}", f"down{half}", f"slopes{half}")
        s("mpy.h.h.frac", f"above{half}", f"up{half}", "scale")
        s("mpy.h.h.frac", f"below{half}", f"slope{half}", "scale")
        s("add.h.sat", f"both{half}", f"above{half}", f"below{half}")
        s("add.h.sat", f"placed{half}", f"both{half}", "offset")
    s("asr.h.ub.rnd", "out", "placedhi", "placedlo", "shift")
    s("store.new", "", "output", "out")


@tiled("table")
def table(s: Stream) -> None:
    """Look up a function of one code in 256 bytes: eight lookups in tables of 32."""
    s("load", "x", "x_in")
    s("lut32", "y", "x", "table0", "part0")
    for k in range(1, TABLE_PARTS):
        s("lut32.or", "y", "x", f"table{k // 4}", f"part{k % 4}")
    s("store", "", "output", "y")
