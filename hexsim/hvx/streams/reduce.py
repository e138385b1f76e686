"""Reductions: a pass over the vectors of the input, then the reduction inside result vectors.

Sums of pixels have 16 bits, those of channels are words of four (`vrmpy` by ones); a maximum
or minimum compares bytes. If the reduced axes are inside a vector, its 32 channels or four
pixels, the last steps combine it with its own rotation, which halves the values each time.

The position of an extremum is found together with its code: each halfword is a code followed by a
count that decreases with the position, so the largest halfword has the first largest code.

Hexagon NN has such kernels in C. These loops follow its average pooling; left out: 16-bit sums
have to be widened every 256 vectors.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, Stream, requantize, tile_loop, tiled

Inside = Literal["nothing", "pixels", "channels"]
"""The axes that are reduced inside a vector."""
_STEPS: dict[Inside, int] = {"nothing": 0, "pixels": 2, "channels": 5}
"""Halvings: four pixels or 32 channels to one."""
_WORD_STEPS = 3
"""Halvings of the eight words that hold the sums of 32 channels."""


def inside_of(axes: Sequence[int], last: int) -> Inside:
    """Return the axes reduced inside a vector: channels (axis `last`), or pixels of a row."""
    if last in axes:
        return "channels"
    return "pixels" if last - 1 in axes else "nothing"


@tiled("end of a sum")
def sum_end(s: Stream, inside: Inside) -> None:
    """Finish the sums of one vector of the result, and requantise them."""
    words = [s("load", f"sum{k}", "sums") for k in range(4)]
    if inside == "channels":
        for step in range(_WORD_STEPS):
            for k, word in enumerate(words):
                s("align", f"turned{k}{step}", word, word, f"by{step}")
                words[k] = s("add.w", f"half{k}{step}", word, f"turned{k}{step}")
    s("store.new", "", "output", requantize(s, words, "out", track=False))


@lru_cache(maxsize=16)
def extremum_pass(machine: HvxMachine, *, largest: bool) -> Kernel:
    """Compare a vector of the input with the extremum so far."""
    s = Stream()
    s("load", "x", "x_in")
    s("max.ub" if largest else "min.ub", "best", "best", "x")
    return tile_loop("maximum" if largest else "minimum", machine, s.insns)


@tiled("end of an extremum")
def extremum_end(s: Stream, inside: Inside, *, largest: bool) -> None:
    """Compute the extremum inside one vector of the result."""
    best = s("load", "x", "best_in")
    for step in range(_STEPS[inside]):
        s("align", f"turned{step}", best, best, f"by{step}")
        best = s("max.ub" if largest else "min.ub", f"best{step}", best, f"turned{step}")
    s("store", "", "output", best)


@tiled("end of a search")
def place_end(s: Stream, inside: Inside) -> None:
    """Find the largest halfwords inside one vector of the result, and return their counts."""
    best = [s("load", f"x_{half}", "best_in") for half in ("lo", "hi")]
    for step in range(_STEPS[inside]):
        for k, keys in enumerate(best):
            s("align", f"turned{k}{step}", keys, keys, f"by{step}")
            best[k] = s("max.h", f"best{k}{step}", keys, f"turned{k}{step}")
    s("shuffe.b", "counts", best[1], best[0])
    s("sub.ub.sat", "places", "most", "counts")
    s("store", "", "output", "places")
