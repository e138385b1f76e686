"""Pooling over d32: four pixels of 32 channels per vector.

The 3x3 kernels compute two output rows at once, so that the rows between them are loaded once.
`valign` shifts pixels by 32 bytes; `vdeal` separates even and odd pixels for stride 2. Output
rows have their own left padding, which needs one more alignment per vector for stride 1.

Resize by two: each input pixel becomes four.

Bilinear with corners: rows are averaged vertically, pixels with their right neighbour, and
pixels and averages are interleaved by 32 bytes. With pixel centres every output is
three quarters of one pixel and a quarter of its neighbour, which are two averages. For the nearest
pixel, each pixel is interleaved with itself.

Colour conversions of flat pictures: permutations of bytes, and NV21.

A byte permutation is one pass of the delta network, as in Hexagon NN's change from depth 3 to 4;
that each of these fits a single pass is assumed.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, Stream, looped, tile_loop, tiled

EAGER = "the hand-written loop waits for each unaligned load, ours loads one pass ahead"
TAIL = "the hand-written tail places its result by cases; ours has one case"


@tiled("max pool 3x3 s1", pixels=8)
def max_3x3_s1(s: Stream) -> None:
    """Compute two rows of four pixels."""
    rows = [s("load", f"r{k}", f"row{k}") for k in range(4)]
    middle = s("max.ub", "middle", rows[1], rows[2])
    for k, edge in ((0, rows[0]), (1, rows[3])):
        column, older = f"column{k}", f"older{k}"  # read here: of the previous tile
        s("lalign", f"left{k}", column, older, "pixel")
        s("max.ub", f"pair{k}", f"left{k}", column)
        s("mov", older, column)
        s("max.ub", column, middle, edge)
        s("align", f"right{k}", column, older, "pixel")
        s("max.ub", f"max{k}", f"pair{k}", f"right{k}")
        s("align", f"out{k}", f"max{k}", f"max{k}", "offset")
        s("store", "", f"output{k}", f"out{k}")


@tiled("max pool 3x3 s2", pixels=8)
def max_3x3_s2(s: Stream) -> None:
    """Compute two rows of four pixels from five rows of eight."""
    columns: dict[tuple[int, int], str] = {}
    for half in range(2):
        rows = [s("load", f"r{k}{half}", f"row{k}") for k in range(5)]
        for k in range(2):
            pair = s("max.ub", f"pair{k}{half}", rows[2 * k], rows[2 * k + 1])
            columns[k, half] = s("max.ub", f"column{k}{half}", pair, rows[2 * k + 2])
    for k in range(2):
        even, near, previous = f"even{k}", f"near{k}", f"held{k}"
        s("deal.pair", even, columns[k, 1], columns[k, 0], "pixels")
        s("align", f"far{k}", f"{even}.lo", previous, "pixel")  # values of the previous tile
        s("max.ub", f"out{k}", near, f"far{k}")
        s("store.new", "", f"output{k}", f"out{k}")
        s("max.ub", near, f"{even}.lo", f"{even}.hi")
        s("mov", previous, f"{even}.lo")


@tiled("max pool 2x2 s2")
def max_2x2_s2(s: Stream) -> None:
    """Compute four pixels from two rows of eight."""
    for half in range(2):
        for k in range(2):
            s("load", f"r{k}{half}", f"row{k}")
        s("max.ub", f"column{half}", f"r0{half}", f"r1{half}")
        s("lalign", f"placed{half}", f"column{half}", f"column{half}", "offset")
    s("deal.pair", "even", "placed1", "placed0", "pixels")
    s("max.ub", "out", "even.lo", "even.hi")
    s("store.new", "", "output", "out")


@lru_cache(maxsize=64)
def max_any(machine: HvxMachine, taps: int) -> Kernel:
    """Compute the maximum of any window: one unaligned vector per window element."""
    s, tail, head = Stream(), Stream(), Stream()
    s("loadu", "x", "window")
    s("max.ub", "largest", "largest", "x")
    tail("store", "", "output", "largest")
    head("mov", "largest", "least")
    head("r.mov", "window", "start")
    head("loop0", "", "taps")
    return looped("max pool any", machine, "window", taps, s, (tail, head), note=EAGER)


@tiled("average pool 3x3 s1", pixels=8)
def average_3x3_s1(s: Stream) -> None:
    """Compute two rows of four pixels: three column sums of 16 bits, times 1/9."""
    rows = [s("load", f"r{k}", f"row{k}") for k in range(4)]
    for k in range(2):
        for half in ("lo", "hi"):  # sums that are read here are of the previous tile
            s("lalign", f"left{k}{half}", f"sum{k}.{half}", f"older{k}{half}", "pixel")
            s("add.h", f"pair{k}{half}", f"left{k}{half}", f"sum{k}.{half}")
            s("mov", f"older{k}{half}", f"sum{k}.{half}")
        s("add.ub.h", f"sum{k}", rows[2 * k], rows[2 * k + 1])
        s("mpy.ub.Rub.acc", f"sum{k}", rows[2 - k], "ones")
        for half in ("lo", "hi"):
            s("align", f"right{k}{half}", f"sum{k}.{half}", f"older{k}{half}", "pixel")
            s("add.h", f"three{k}{half}", f"pair{k}{half}", f"right{k}{half}")
            s("mpy.h.h.frac", f"mean{k}{half}", f"three{k}{half}", "ninth")
        s("shuffe.b", f"out{k}", f"mean{k}hi", f"mean{k}lo")
        s("align", f"placed{k}", f"out{k}", f"out{k}", "offset")
        s("store.new", "", f"output{k}", f"placed{k}")


@lru_cache(maxsize=256)
def average_any(machine: HvxMachine, taps: int) -> Kernel:
    """Compute the average of any window: one multiply by one per vector, then the scale."""
    s, tail, head = Stream(), Stream(), Stream()
    s("loadu", "x", "window")
    s("mpy.ub.Rub.acc", "sum", "x", "ones")
    for k, half in enumerate(("lo", "hi")):
        tail("mpy.h.h", f"wide{k}", f"sum.{half}", "reciprocal")
        tail("asr.w.h.rnd", f"mean{k}", f"wide{k}.hi", f"wide{k}.lo", "shift")
    tail("shuff.pair", "mixed", "mean1", "mean0", "bytes")
    tail("pack.h.ub", "out", "mixed.hi", "mixed.lo")
    tail("align", "placed", "out", "out", "offset")
    tail("store", "", "output", "placed")
    head("xor", "sum.lo", "zero", "zero")
    head("xor", "sum.hi", "zero", "zero")
    head("r.mov", "window", "start")
    head("loop0", "", "taps")
    return looped("average pool any", machine, "window", taps, s, (tail, head), note=TAIL)


@tiled("global average pool")
def global_average(s: Stream) -> None:
    """Sum a whole image by channel, four pixels a pass; the division runs once per slice."""
    s("load.tmp", "raw", "image")
    s("shuff.b", "half", "raw")
    s("shuff.b", "words", "half")
    s("dot.ub.Rub.acc", "sum", "words", "ones")


_OUTPUT_PIXELS = 16
"""Output pixels of four input pixels."""


@tiled("resize x2", pixels=_OUTPUT_PIXELS)
def bilinear_by_two(s: Stream) -> None:
    """Four input pixels of a row to two rows of eight."""
    s("load", "x0", "row0")
    s("load.tmp", "below", "row1")
    s("avg.ub.rnd", "x1", "x0", "below")
    for k in range(2):
        now, previous = f"x{k}", f"held{k}"
        s("align", f"right{k}", now, previous, "pixel")  # `previous` is of the previous tile
        s("avg.ub.rnd", f"between{k}", previous, f"right{k}")
        s("shuff.pair", f"wide{k}", f"between{k}", previous, "pixels")
        s("mov", previous, now)
        _store_both(s, f"output{k}", f"wide{k}")


@tiled("resize x2 centred", pixels=_OUTPUT_PIXELS)
def bilinear_by_two_centred(s: Stream) -> None:
    """Resize where output pixels are a quarter pixel beside the centres of input pixels."""
    s("load", "middle", "row1")
    for k, row in enumerate(("row0", "row2")):
        now, previous, older = f"x{k}", f"held{k}", f"older{k}"  # of previous tiles
        s("load", f"other{k}", row)
        s("avg.ub.rnd", f"half{k}", "middle", f"other{k}")
        s("avg.ub.rnd", now, "middle", f"half{k}")
        s("lalign", f"left{k}", previous, older, "pixel")
        s("align", f"right{k}", now, previous, "pixel")
        for side in ("left", "right"):
            s("avg.ub.rnd", f"{side}_half{k}", previous, f"{side}{k}")
            s("avg.ub.rnd", f"{side}_out{k}", previous, f"{side}_half{k}")
        s("shuff.pair", f"wide{k}", f"right_out{k}", f"left_out{k}", "pixels")
        s("mov", older, previous)
        s("mov", previous, now)
        _store_both(s, f"output{k}", f"wide{k}")


@tiled("nearest x2", pixels=_OUTPUT_PIXELS)
def nearest_by_two(s: Stream) -> None:
    """Four input pixels of a row to two rows of eight."""
    s("load", "x", "row")
    s("shuff.pair", "wide", "x", "x", "pixels")
    for k in range(2):
        _store_both(s, f"output{k}", "wide")


def _store_both(s: Stream, address: str, pair: str) -> None:
    s("store", "", address, f"{pair}.lo")
    s("store", "", address, f"{pair}.hi")


_CHANNELS = 3
_HALVES = ("lo", "hi")


@lru_cache(maxsize=16)
def pick_channels(machine: HvxMachine, channels: int) -> Kernel:
    """Convert whole pixels of `channels` bytes, as many as a vector holds, to pixels of three."""
    s = Stream()
    s("loadu", "x", "in")
    s("delta", "y", "x", "control")
    s("storeu", "", "output", "y")
    pixels = 4 * machine.lanes // channels
    return tile_loop("pick channels", machine, s.insns, pixels=pixels)


@lru_cache(maxsize=16)
def nv21_colours(machine: HvxMachine) -> Kernel:
    """Convert 128 pixels of a row to a vector of each colour: 16-bit differences, 32-bit sums.

    Widening separates even from odd bytes: luma into even and odd columns, chroma into V and U,
    each of which two columns share.
    """
    s = Stream()
    s("load", "luma", "luma_in")
    s("load", "chroma", "chroma_in")
    s("sub.ub.h", "y", "luma", "origin_y")
    s("sub.ub.h", "vu", "chroma", "origin_vu")
    for half in _HALVES:
        s("mpy.h.h", f"light{half}", f"y.{half}", "weight_y")
    s("mpy.h.h", "blue", "vu.hi", "weight_blue_u")
    s("mpy.h.h", "red", "vu.lo", "weight_red_v")
    s("mpy.h.h", "green_v", "vu.lo", "weight_green_v")
    s("mpy.h.h", "green_u", "vu.hi", "weight_green_u")
    for k in _HALVES:
        s("add.w", f"green{k}", f"green_v.{k}", f"green_u.{k}")
    tints = {"blue": "blue.", "green": "green", "red": "red."}
    for colour, tint in tints.items():
        for half in _HALVES:
            for k in _HALVES:
                s("add.w", f"{colour}_{half}{k}", f"light{half}.{k}", f"{tint}{k}")
            words = (f"{colour}_{half}hi", f"{colour}_{half}lo")
            s("asr.w.h.rnd", f"{colour}_{half}", *words, "fraction")
        s("sat.h.ub", f"{colour}_out", f"{colour}_hi", f"{colour}_lo")
        s("store.new", "", f"{colour}_at", f"{colour}_out")
    return tile_loop("nv21 colours", machine, s.insns, pixels=4 * machine.lanes)


@lru_cache(maxsize=16)
def weave(machine: HvxMachine) -> Kernel:
    """Interleave a vector of each colour to three vectors of pixels."""
    s = Stream()
    for colour in "bgr":
        s("load", colour, f"{colour}_in")
    for part in range(_CHANNELS):
        for colour in "bgr":
            s("delta", f"{colour}{part}", colour, f"control_{colour}{part}")
        s("mux", f"two{part}", f"is_b{part % 2}", f"b{part}", f"g{part}")
        s("mux", f"out{part}", f"is_r{part % 2}", f"r{part}", f"two{part}")
        s("store.new", "", "output", f"out{part}")
    return tile_loop("weave colours", machine, s.insns, pixels=4 * machine.lanes)
