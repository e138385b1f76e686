"""Loops over 16-bit codes: 64 of them, two pixels of 32 channels, are one vector.

Halfword multiplies are signed, so an exclusive or converts codes to signed numbers after loading
and back before storing. Sums and changes of encoding scale by a 16-bit fraction, as
the 8-bit loops of Hexagon NN do; there are no hand-written 16-bit loops to compare with.
"""

from hexsim.hvx.streams._kernel import tiled
from hexsim.hvx.streams._stream import Stream

PIXELS = 2
_HALVES = ("lo", "hi")


def _signed(s: Stream, name: str, address: str) -> str:
    s("load", name, address)
    return s("xor", f"{name}s", name, "sign")


def _stored(s: Stream, value: str) -> None:
    s("xor", "out", value, "sign")
    s("store", "", "output", "out")


@tiled("add, 16 bits", pixels=PIXELS)
def add(s: Stream) -> None:
    """Add two tensors: each scaled by a fraction, added, saturated. `offset`: zero points."""
    for name in ("x", "y"):
        s("mpy.h.h.frac", f"{name}f", _signed(s, name, name + "_in"), f"scale_{name}")
    s("add.h.sat", "sum", "xf", "yf")
    s("add.h.sat", "total", "sum", "offset")
    _stored(s, "total")


@tiled("multiply, 16 bits", pixels=PIXELS)
def multiply(s: Stream) -> None:
    """Multiply two tensors: 32-bit products, requantised."""
    for name in ("x", "y"):
        s("sub.h", f"{name}d", _signed(s, name, name + "_in"), f"zero_{name}")
    s("mpy.h.h", "p", "xd", "yd")
    scaled = []
    for half in _HALVES:
        s("add.w", f"q{half}", f"p.{half}", "offset")
        s("mpye", f"m{half}", f"q{half}", "multiplier")
        scaled.append(s("mpyo.acc", f"m{half}", f"q{half}", "multiplier"))
    s("pack.w.h", "packed", scaled[1], scaled[0])
    _stored(s, "packed")


@tiled("rescale, 16 bits", pixels=PIXELS)
def rescale(s: Stream) -> None:
    """Convert codes of one encoding to another of the same width."""
    s("mpy.h.h.frac", "f", _signed(s, "x", "x_in"), "scale")
    s("add.h.sat", "placed", "f", "offset")
    _stored(s, "placed")


@tiled("clamp, 16 bits", pixels=PIXELS)
def clamp(s: Stream) -> None:
    """Clamp, as for Relu: maximum and minimum with constants."""
    s("max.h", "y", _signed(s, "x", "x_in"), "low")
    s("min.h", "z", "y", "high")
    _stored(s, "z")


@tiled("convert 8 to 16 bits")
def widen(s: Stream) -> None:
    """Convert 128 codes of 8 bits to 16 bits over the same range: both bytes are q, so q * 257."""
    s("load", "x", "x_in")
    s("shuffoe.b", "twice", "x", "x")
    s("store", "", "output", "twice.lo")
    s("store", "", "output", "twice.hi")


@tiled("convert 16 to 8 bits")
def narrow(s: Stream) -> None:
    """Convert 128 codes of 16 bits to 8 bits over the same range: scale, then take high bytes."""
    for half in _HALVES:
        s("mpy.h.h.frac", f"f{half}", _signed(s, f"x{half}", "x_in"), "scale")
        s("add.h.sat", f"placed{half}", f"f{half}", "offset")
    s("asr.h.ub.rnd", "out", "placedhi", "placedlo", "shift")
    s("store.new", "", "output", "out")


@tiled("split in bytes")
def split(s: Stream) -> None:
    """Split 128 codes in a vector of low bytes and one of high bytes for multiplies."""
    for half in _HALVES:
        s("load", f"x{half}", "x_in")
    s("shuffe.b", "low", "xhi", "xlo")
    s("shuffo.b", "high", "xhi", "xlo")
    s("store", "", "low_out", "low")
    s("store", "", "high_out", "high")
