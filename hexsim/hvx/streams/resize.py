"""Resize by two: each input pixel becomes four.

Bilinear with corners: rows are averaged vertically, pixels with their right neighbour, and
pixels and averages are interleaved by 32 bytes. With pixel centres every output is
three quarters of one pixel and a quarter of its neighbour, which are two averages. For the nearest
pixel, each pixel is interleaved with itself.
"""

from hexsim.hvx.streams._kernel import tiled
from hexsim.hvx.streams._stream import Stream

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
