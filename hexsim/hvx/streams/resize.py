"""Bilinear resize by two: each input pixel becomes four.

Rows are averaged vertically, pixels with their right neighbour, and originals and averages shuffled
together by pixels of 32 bytes.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import Machine
from hexsim.hvx.streams._kernel import Kernel, tile_loop
from hexsim.hvx.streams._stream import Stream


@lru_cache(maxsize=16)
def bilinear_by_two(machine: Machine) -> Kernel:
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
        s("store", "", f"output{k}", f"wide{k}.lo")
        s("store", "", f"output{k}", f"wide{k}.hi")
    return tile_loop("resize x2", machine, s.insns, pixels=16)
