"""Loops over 16-bit codes: 64 of them, two pixels of 32 channels, are one vector.

Halfword multiplies are signed, so an exclusive or converts codes to signed numbers after loading
and back before storing. Sums and changes of encoding scale by a 16-bit fraction, as
the 8-bit loops of Hexagon NN do; there are no hand-written 16-bit loops to compare with.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, tile_loop
from hexsim.hvx.streams._stream import Stream

PIXELS = 2
_HALVES = ("lo", "hi")


def _signed(s: Stream, name: str, address: str) -> str:
    s("load", name, address)
    return s("xor", f"{name}s", name, "sign")


def _stored(s: Stream, value: str) -> None:
    s("xor", "out", value, "sign")
    s("store", "", "output", "out")


@lru_cache(maxsize=16)
def add(machine: HvxMachine) -> Kernel:
    """Add two tensors: each scaled by a fraction, added, saturated. `offset`: zero points."""
    s = Stream()
    for name in ("x", "y"):
        s("mpy.h.h.frac", f"{name}f", _signed(s, name, name + "_in"), f"scale_{name}")
    s("add.h.sat", "sum", "xf", "yf")
    s("add.h.sat", "total", "sum", "offset")
    _stored(s, "total")
    return tile_loop("add, 16 bits", machine, s.insns, pixels=PIXELS)


@lru_cache(maxsize=16)
def multiply(machine: HvxMachine) -> Kernel:
    """Multiply two tensors: 32-bit products, requantised."""
    s = Stream()
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
    return tile_loop("multiply, 16 bits", machine, s.insns, pixels=PIXELS)


@lru_cache(maxsize=16)
def rescale(machine: HvxMachine) -> Kernel:
    """Convert codes of one encoding to another of the same width."""
    s = Stream()
    s("mpy.h.h.frac", "f", _signed(s, "x", "x_in"), "scale")
    s("add.h.sat", "placed", "f", "offset")
    _stored(s, "placed")
    return tile_loop("rescale, 16 bits", machine, s.insns, pixels=PIXELS)


@lru_cache(maxsize=16)
def clamp(machine: HvxMachine) -> Kernel:
    """Clamp, as for Relu: maximum and minimum with constants."""
    s = Stream()
    s("max.h", "y", _signed(s, "x", "x_in"), "low")
    s("min.h", "z", "y", "high")
    _stored(s, "z")
    return tile_loop("clamp, 16 bits", machine, s.insns, pixels=PIXELS)


@lru_cache(maxsize=16)
def widen(machine: HvxMachine) -> Kernel:
    """Convert 128 codes of 8 bits to 16 bits over the same range: both bytes are q, so q * 257."""
    s = Stream()
    s("load", "x", "x_in")
    s("shuffoe.b", "twice", "x", "x")
    s("store", "", "output", "twice.lo")
    s("store", "", "output", "twice.hi")
    return tile_loop("convert 8 to 16 bits", machine, s.insns)


@lru_cache(maxsize=16)
def narrow(machine: HvxMachine) -> Kernel:
    """Convert 128 codes of 16 bits to 8 bits over the same range: scale, then take high bytes."""
    s = Stream()
    for half in _HALVES:
        s("mpy.h.h.frac", f"f{half}", _signed(s, f"x{half}", "x_in"), "scale")
        s("add.h.sat", f"placed{half}", f"f{half}", "offset")
    s("asr.h.ub.rnd", "out", "placedhi", "placedlo", "shift")
    s("store.new", "", "output", "out")
    return tile_loop("convert 16 to 8 bits", machine, s.insns)


@lru_cache(maxsize=16)
def split(machine: HvxMachine) -> Kernel:
    """Split 128 codes in a vector of low bytes and one of high bytes for multiplies."""
    s = Stream()
    for half in _HALVES:
        s("load", f"x{half}", "x_in")
    s("shuffe.b", "low", "xhi", "xlo")
    s("shuffo.b", "high", "xhi", "xlo")
    s("store", "", "low_out", "low")
    s("store", "", "high_out", "high")
    return tile_loop("split in bytes", machine, s.insns)
