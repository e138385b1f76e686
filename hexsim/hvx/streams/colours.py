"""Colour conversions of flat pictures: permutations of bytes, and NV21.

A byte permutation is one pass of the delta network, as in Hexagon NN's change from depth 3 to 4;
that each of these fits a single pass is assumed.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, tile_loop
from hexsim.hvx.streams._stream import Stream

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
