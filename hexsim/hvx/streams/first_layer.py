"""Convolution of an image: depth padded to 4, four pixels of 32 channels.

One loop pass is one filter row; every architecture runs it with weights as vectors and activations
as scalars, as Hexagon NN does. The last of an odd number of taps reads half a register pair.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.streams._kernel import Kernel, call, pipelined_segments
from hexsim.hvx.streams._requantize import requantize
from hexsim.hvx.streams._stream import Stream

DEPTH = 4  # bytes per pixel
WIDE = 7  # a wider filter takes two taps at a time, because its values do not fit the registers
NOTE = "the hand-written tail was inferred from its file size; ours overlaps the next tile"


@lru_cache(maxsize=256)
def convolution(machine: HvxMachine, height: int, width: int, stride: int) -> Kernel:
    """Return a tile of four pixels; height, width: of the filter."""
    taps, passes = (width, height) if width <= WIDE else (2, height * -(-width // 2))
    s = Stream()
    _words(s, taps, stride)
    for tap in range(taps):
        s("load", f"w{tap}", "weights")
        for p in range(4):
            s("dot.ub.Rub.acc", f"acc{p}", f"w{tap}", _word(tap, p, stride))
    s("dcfetch", "", "pixels", imm=256)
    s("r.add", "pixels", "pixels", "row_bytes")
    tail, head = Stream(), Stream()
    tail("store.new", "", "output", requantize(tail, [f"acc{p}" for p in range(4)], "out"))
    for p in range(4):
        head("r.loadw", f"sum{p}", "sums", imm=4)
        head("splat", f"s{p}", f"sum{p}")
        head("add.w", f"acc{p}", f"s{p}", "bias")
    head("r.add", "pixels", "pixels", "next_tile")
    head("r.mov", "weights", "first_weights")
    head("loop0", "", "rows")
    pipelined_loop = pipelined(machine, s.insns, passes, tail.insns, head.insns)
    name = f"first conv {height}x{width} s{stride}"
    tile = pipelined_segments("filter rows", pipelined_loop)
    return Kernel(name, machine, tile, call=call(machine), note=NOTE)


def _words(s: Stream, taps: int, stride: int) -> None:
    """Load the words (pixels of 4 bytes) that four output pixels of a filter row read."""
    if stride % 2:  # neighbouring outputs share words: load all, pair by pair
        for k in range(-(-(3 * stride + taps) // 2)):
            s("r.loadd.at", f"x{k}", "pixels", imm=8 * k)
        return
    for p in range(4):
        for k in range(-(-taps // 2)):
            is_pair = 2 * k + 1 < taps
            op = "r.loadd.at" if is_pair else "r.loadw.at"
            s(op, f"x{p}_{k}", "pixels", imm=DEPTH * p * stride + 8 * k)


def _word(tap: int, pixel: int, stride: int) -> str:
    if stride % 2:
        word = pixel * stride + tap
        return f"x{word // 2}.{'hi' if word % 2 else 'lo'}"
    return f"x{pixel}_{tap // 2}.{'hi' if tap % 2 else 'lo'}"
