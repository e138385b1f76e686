"""Interleaves pixels of several images, which assembles the phases of a deconvolution.

A vector of d32 holds four pixels of 32 bytes. Two or four images are shuffled by pixels; of three
images, the delta network moves each to its positions in three vectors.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, tile_loop
from hexsim.hvx.streams._stream import Stream

MOST = 4
"""The most images for which there is a loop."""


@lru_cache(maxsize=16)
def weave_pixels(machine: HvxMachine, images: int) -> Kernel:
    """Interleave a vector of each of `images` (2 to 4) images."""
    s = Stream()
    names = [s("load", f"x{k}", f"in{k}") for k in range(images)]
    if images == 3:
        _by_network(s, names)
    else:
        _by_shuffles(s, names)
    return tile_loop(f"weave {images}", machine, s.insns, pixels=4 * images)


def _by_shuffles(s: Stream, names: list[str]) -> None:
    if len(names) == MOST:
        first, second, third, fourth = names
        s("shuff.pair", "odd", third, first, "pixels")
        s("shuff.pair", "even", fourth, second, "pixels")
        pairs = [("even.lo", "odd.lo"), ("even.hi", "odd.hi")]
    else:
        pairs = [(names[1], names[0])]
    for k, (later, sooner) in enumerate(pairs):
        s("shuff.pair", f"out{k}", later, sooner, "pixels")
        s("store", "", "output", f"out{k}.lo")
        s("store", "", "output", f"out{k}.hi")


def _by_network(s: Stream, names: list[str]) -> None:
    for part in range(len(names)):
        placed = [s("delta", f"{x}_{part}", x, f"control{k}") for k, x in enumerate(names)]
        s("mux", f"two{part}", f"is_first{part % 2}", placed[0], placed[1])
        s("mux", f"out{part}", f"is_third{part % 2}", placed[2], f"two{part}")
        s("store.new", "", "output", f"out{part}")
