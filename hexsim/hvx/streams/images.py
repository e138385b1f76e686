"""Pooling and resizing over d32, four pixels of 32 channels per vector, and colour conversions.

A byte permutation of a flat picture is one pass of the delta network, as in Hexagon NN's change
from depth 3 to 4; that each of these fits a single pass is assumed.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._code import listed, listed_loop
from hexsim.hvx.streams._kernel import Kernel, Stream, tile_loop

nv21_colours = listed("nv21_colours")
weave = listed("weave")

max_3x3_s1 = listed("max_3x3_s1")
max_3x3_s2 = listed("max_3x3_s2")
max_2x2_s2 = listed("max_2x2_s2")
average_3x3_s1 = listed("average_3x3_s1")
global_average = listed("global_average")
bilinear_by_two = listed("bilinear_by_two")
bilinear_by_two_centred = listed("bilinear_by_two_centred")
nearest_by_two = listed("nearest_by_two")
max_any = listed_loop("max_any")
average_any = listed_loop("average_any")


@lru_cache(maxsize=16)
def pick_channels(machine: HvxMachine, channels: int) -> Kernel:
    """Convert whole pixels of `channels` bytes, as many as a vector holds, to pixels of three."""
    s = Stream()
    s("loadu", "x", "in")
    s("delta", "y", "x", "control")
    s("storeu", "", "output", "y")
    pixels = 4 * machine.lanes // channels
    return tile_loop("pick channels", machine, s.insns, pixels=pixels)
