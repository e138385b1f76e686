"""Pooling over d32: four pixels of 32 channels per vector.

The 3x3 kernels compute two output rows at once, so that the rows between them are loaded once.
`valign` shifts pixels by 32 bytes; `vdeal` separates even and odd pixels for stride 2. Output
rows have their own left padding, which needs one more alignment per vector for stride 1.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, looped, tiled
from hexsim.hvx.streams._stream import Stream

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
