"""Resize by two: each input pixel becomes four.

Bilinear between corners: rows are averaged vertically, pixels with their right neighbour, and
originals and averages shuffled together by pixels of 32 bytes. Between centres every output is
three quarters of one pixel and a quarter of its neighbour, which are two averages. The nearest
pixel is shuffled with itself.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, tile_loop
from hexsim.hvx.streams._stream import Stream

_MADE = 16
"""Pixels that four input pixels become."""


@lru_cache(maxsize=16)
def bilinear_by_two(machine: HvxMachine) -> Kernel:
    """Four input pixels of a row to two rows of eight."""
    s = Stream()
    s("load", "x0", "row0")
    s("load.tmp", "below", "row1")
    s("avg.ub.rnd", "x1", "x0", "below")
    for k in range(2):
        now, held = f"x{k}", f"held{k}"
        s("align", f"right{k}", now, held, "pixel")  # held: of the tile before
        s("avg.ub.rnd", f"between{k}", held, f"right{k}")
        s("shuff.pair", f"wide{k}", f"between{k}", held, "pixels")
        s("mov", held, now)
        _store_both(s, f"output{k}", f"wide{k}")
    return tile_loop("resize x2", machine, s.insns, pixels=_MADE)


@lru_cache(maxsize=16)
def bilinear_by_two_centred(machine: HvxMachine) -> Kernel:
    """The same where output pixels lie a quarter beside the centres of input pixels."""
    s = Stream()
    s("load", "middle", "row1")
    for k, row in enumerate(("row0", "row2")):
        now, held, older = f"x{k}", f"held{k}", f"older{k}"  # held, older: of tiles before
        s("load", f"other{k}", row)
        s("avg.ub.rnd", f"half{k}", "middle", f"other{k}")
        s("avg.ub.rnd", now, "middle", f"half{k}")
        s("lalign", f"left{k}", held, older, "pixel")
        s("align", f"right{k}", now, held, "pixel")
        for side in ("left", "right"):
            s("avg.ub.rnd", f"{side}_half{k}", held, f"{side}{k}")
            s("avg.ub.rnd", f"{side}_out{k}", held, f"{side}_half{k}")
        s("shuff.pair", f"wide{k}", f"right_out{k}", f"left_out{k}", "pixels")
        s("mov", older, held)
        s("mov", held, now)
        _store_both(s, f"output{k}", f"wide{k}")
    return tile_loop("resize x2 centred", machine, s.insns, pixels=_MADE)


@lru_cache(maxsize=16)
def nearest_by_two(machine: HvxMachine) -> Kernel:
    """Four input pixels of a row to two rows of eight."""
    s = Stream()
    s("load", "x", "row")
    s("shuff.pair", "wide", "x", "x", "pixels")
    for k in range(2):
        _store_both(s, f"output{k}", "wide")
    return tile_loop("nearest x2", machine, s.insns, pixels=_MADE)


def _store_both(s: Stream, address: str, pair: str) -> None:
    s("store", "", address, f"{pair}.lo")
    s("store", "", address, f"{pair}.hi")
