"""Loops over 16-bit codes: 64 of them, two pixels of 32 channels, are one vector.

Halfword multiplies are signed, so an exclusive or converts codes to signed numbers after loading
and back before storing. Sums and changes of encoding scale by a 16-bit fraction, as
the 8-bit loops of Hexagon NN do; there are no hand-written 16-bit loops to compare with.

Multiplying loops of 16-bit activations: high and low bytes are multiplied separately.

Two sets of accumulators hold the sums of the high and of the low bytes. The requantise stage shifts
the low ones right by eight bits, requantises both with one rounding (docs/reference/arithmetic.md)
and packs halfwords. Products of two computed operands of 16 bits need three sets of accumulators.

There are only forms of V66, because 16-bit activations came with it. A Z dot uses all pipes
and cannot take a second operand from Z, so a convolution reads each weight vector twice, once
for each byte; a fully connected layer multiplies both bytes by each weight vector that it loads.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.streams._kernel import Kernel, Stream, call, looped, pipelined_segments, tiled
from hexsim.hvx.streams.matrices import INPUTS

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


NOTE = "no hand-written loop is known"


def requantize(s: Stream, high: str, low: str, result: str) -> str:
    """Turn 32 words of both accumulators into 32 scaled words, minus 2^15; return their name.

    The fraction of the low byte is added between the two steps of the multiply.
    """
    s("asr.w.R", f"{result}d", low, "byte")
    s("and", f"{result}r", low, "fraction")
    s("add.w", f"{result}a", high, f"{result}d")
    s("asl.w.R", f"{result}s", f"{result}a", "shift")
    s("asl.w.R", f"{result}t", f"{result}r", "shift")
    s("mpye", f"{result}m", "multiplier", f"{result}t")
    s("asr.w.R", f"{result}n", f"{result}m", "byte")
    s("mpye", f"{result}e", f"{result}s", "multiplier")
    s("add.w", result, f"{result}e", f"{result}n")
    return s("mpyo.acc", result, f"{result}s", "multiplier")


def halfwords(s: Stream, pairs: list[tuple[str, str]], result: str) -> str:
    """Turn two pairs of accumulators into one vector of codes; return its name."""
    words = [requantize(s, *pair, f"{result}{k}") for k, pair in enumerate(pairs)]
    s("pack.w.h", f"{result}p", words[1], words[0])
    return s("xor", result, f"{result}p", "sign")


@lru_cache(maxsize=1024)
def convolution(machine: HvxMachine, fw: int, depth_rows: int) -> Kernel:
    """Compute four pixels x 32 channels from byte planes in L2 and signed weights in VTCM.

    The loop over rows of taps runs once for each byte; a loop pass is one half tap of one row.
    """
    passes = []
    for byte in ("high", "low"):
        s = Stream()
        s("loadz", "", f"{byte}_pixels")
        for k in range(4):
            s("load.tmp", f"w{k}", f"{byte}_weights")
            s("dotz.b.acc", byte, f"w{k}", "lane")
        passes.append(s.insns)
    between, tail, head = Stream(), Stream(), Stream()
    between("loop0", "", "steps")
    for half in range(2):
        pixels = (2 * half, 2 * half + 1)
        accumulators = [(f"high.{p}", f"low.{p}") for p in pixels]
        tail("store.new", "", "output", halfwords(tail, accumulators, f"out{half}"))
    for p in range(4):
        head("mov", f"high.{p}", "high_bias")
        head("mov", f"low.{p}", "low_bias")
    head("r.mov", "high_pixels", "start")
    head("r.add", "low_pixels", "start", "plane")
    head("loop0", "", "steps")
    steps = 2 * fw * depth_rows
    tile = pipelined_segments("high bytes", pipelined(machine, passes[0], steps, between.insns))
    tile += pipelined_segments(
        "low bytes", pipelined(machine, passes[1], steps, tail.insns, head.insns)
    )
    vtcm = frozenset({"high_weights", "low_weights"})
    return Kernel("conv v66, 16 bits", machine, tile, call=call(machine), in_vtcm=vtcm, note=NOTE)


@lru_cache(maxsize=256)
def fully_connected(machine: HvxMachine, inputs: int) -> Kernel:
    """Compute 32 outputs of one item; every vector of weights is used twice."""
    s = Stream()
    for byte in ("high", "low"):
        s("r.loadd.at", f"{byte}0", f"{byte}_in")
        s("r.loadd", f"{byte}1", f"{byte}_in", imm=INPUTS)
    for k in range(INPUTS // 4):
        s("load", f"w{k}", "weights")
        half = "hi" if k % 2 else "lo"
        for byte in ("high", "low"):
            s("dot.ub.Rub.acc", byte + "_sum", f"w{k}", f"{byte}{k // 2}.{half}")
    tail, head = Stream(), Stream()
    words = requantize(tail, "high_sum", "low_sum", "out")
    tail("pack.w.h", "packed", words, words)
    tail("xor", "codes", "packed", "sign")
    tail("storeu", "", "output", "codes")
    head("load", "high_sum", "biases")
    head("load", "low_sum", "biases")
    head("r.mov", "high_in", "start")
    head("r.add", "low_in", "start", "plane")
    head("loop0", "", "steps")
    name, passes, around = "fully connected, 16 bits", -(-inputs // INPUTS), (tail, head)
    return looped(name, machine, "inputs", passes, s, around, note=NOTE)


@lru_cache(maxsize=256)
def product(machine: HvxMachine, depth: int) -> Kernel:
    """Multiply a row of one computed matrix by 32 columns of another, both as byte planes.

    There are three sums: high by high bytes, low by low, and mixed. Each starts from corrections
    for the zero points: those of the packed columns and that of the row. The last eight bits
    of the lowest sum, which rounding does not need, are left out.
    """
    s = Stream()
    for byte in ("high", "low"):
        s("r.loadd.at", f"{byte}0", f"{byte}_in")
        s("r.loadd", f"{byte}1", f"{byte}_in", imm=INPUTS)
    for k in range(INPUTS // 4):
        half = "hi" if k % 2 else "lo"
        row = {byte: f"{byte}{k // 2}.{half}" for byte in ("high", "low")}
        s("load", f"wh{k}", "high_columns")
        s("load", f"wl{k}", "low_columns")
        s("dot.ub.Rub.acc", "high_sum", f"wh{k}", row["high"])
        s("dot.ub.Rub.acc", "cross_sum", f"wh{k}", row["low"])
        s("dot.ub.Rub.acc", "cross_sum", f"wl{k}", row["high"])
        s("dot.ub.Rub.acc", "low_sum", f"wl{k}", row["low"])
    tail, head = Stream(), Stream()
    tail("asr.w.R", "lowd", "low_sum", "byte")
    tail("add.w", "cross", "cross_sum", "lowd")
    words = requantize(tail, "high_sum", "cross", "out")
    tail("pack.w.h", "packed", words, words)
    tail("xor", "codes", "packed", "sign")
    tail("storeu", "", "output", "codes")
    for part in ("high", "cross", "low"):
        head("load", f"{part}_bias", "biases")
        head("r.loadw.at", f"{part}_row", "sums")
        head("splat", f"{part}_off", f"{part}_row")
        head("add.w", f"{part}_sum", f"{part}_bias", f"{part}_off")
    head("r.mov", "high_in", "start")
    head("r.add", "low_in", "start", "plane")
    head("loop0", "", "steps")
    name, passes, around = "matrix product, 16 bits", -(-depth // INPUTS), (tail, head)
    return looped(name, machine, "inputs", passes, s, around, note=NOTE)
