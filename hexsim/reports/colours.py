"""The colours of pages and pictures: one colour for one meaning, wherever it is drawn.

All are visible on white and on black. Those of bounds are the palette of Okabe and Ito, which
readers with any colour vision tell apart. Boxes with dark text have `tint`s of these colours.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle

GREY = "#8a929e"
"""What has no meaning of its own: overheads, intervals, what contains others."""
MAIN, MARKED = "#5b82b8", "#d6457e"
"""A quantity of which a chart has only one; and what a reader should look at."""
ENGINES: Mapping[str, str] = {
    **{"hvx": "#8e6fd8", "hta": "#83a13a", "htp": "#2fa3a3", "gpu": "#5aa9e6", "cpu": "#b08457"}
}
BOUNDS: Mapping[str, str] = {
    **{"compute": "#0072b2", "ddr": "#d55e00", "latency": "#e69f00", "l2": "#cc79a7"},
    **{"imbalance": "#009e73", "overhead": GREY, "preemption": "#6f6250"},
}
MEMORIES: Mapping[str, str] = {"ddr": BOUNDS["ddr"], "l2": BOUNDS["l2"], "vtcm": "#a8477f"}
ENERGY: Mapping[str, str] = {
    **{"vector packets": ENGINES["hvx"], "scalar packets": "#b9a6ee", "macs": BOUNDS["compute"]},
    **MEMORIES,
    **{"leakage": GREY, "clock tree": "#b9bfc8", "cpu": ENGINES["cpu"], "gpu": ENGINES["gpu"]},
}
"""By part of an energy."""
ENCODING = "#7fb8a4"
"""The range that the codes of a tensor can say."""
BAD = "#d65f6a"
"""An error, a limit that is exceeded, values that are clipped."""
SERIES = (
    *("#4c8bd6", "#e08a2e", "#3fa66b", "#a873d1", "#d65f6a", "#b59a1f"),
    *("#2fa3a3", "#9a7b5c", "#7482d9", "#83a13a", "#cf67a8", "#6d8f7c"),
)
"""Colours for names that no table above has: chips, threads, layer types."""


def in_turn(names: Sequence[str]) -> dict[str, str]:
    """Return a colour of the series for each name, in their order."""
    return dict(zip(names, cycle(SERIES), strict=False))


def tint(colour: str, share: float) -> str:
    """Return a mixture with white; `share` (0 .. 1) is that of the colour."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)
