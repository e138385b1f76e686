"""How often the float values of activations occur, with what their codes can say beside them.

Counts stand on an axis of powers, as most values of an activation are often zero and what is
clipped are few. Below them a ruler has a stripe for every other code, each one step wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable

_FLOOR = 0.5
"""Where bars begin: an axis of powers has no zero."""
_RULER = (0.28, 0.42)
"""Bottom and top of the ruler, below the bars."""
_MOST_CODES = 256
"""Codes that a ruler can have, those of 8 bits: more would be narrower than a screen's point."""
_VALUES, _CLIPPED, _CODE = PALETTE[0], PALETTE[1], PALETTE[2]


class _Mark(NamedTuple):
    """A rectangle: `number` is how many values there are, or which code it is."""

    what: str
    number: int
    left: float
    right: float
    bottom: float
    top: float
    colour: str
    edge: float = 0.0


def distributions_figure(found: Mapping[str, Any]) -> Figure | None:
    """Return the figure of what `hexsim validate --json` has counted; None without counts."""
    counted = found["distributions"]
    if not counted:
        return None
    choices = {_name(one): _columns(list(_marks(one))) for one in counted}
    told = (("", "@what: @number"), ("from", "@left{0.00000}"), ("to", "@right{0.00000}"))
    made = chart("value in float", "how many, by powers of ten", told=told, y_axis_type="log")
    made.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="colour",
        line_color="colour",
        line_alpha="edge",
        line_width=2,
        source=source(next(iter(choices.values()))),
    )
    header = ("layer", "tensor", "SQNR dB", "values", "code low", "code high", "step", "bits")
    return Figure(
        "Values and codes",
        f"The float values of the {len(counted)} tensors with the lowest SQNR; choose one. "
        "Upright lines are the ends of its encoding. Below, every other code of 8 bits is a "
        "stripe, as wide as a step; zoom in to tell them apart. A value more than half a step "
        "outside is clipped.",
        FigureTable((*header, "clipped"), [_row(one) for one in counted]),
        made,
        (
            (_VALUES, "values"),
            (_CLIPPED, "values that are clipped"),
            (_CODE, "ends of the encoding"),
            (GREY, "codes"),
        ),
        choices=choices,
    )


def _name(one: Mapping[str, Any]) -> str:
    share = f"{one['clipped']:.2%} clipped" if one["clipped"] else "none clipped"
    return f"{one['tensor']}: {one['sqnr_db']:.1f} dB, {share}"


def _marks(one: Mapping[str, Any]) -> Iterator[_Mark]:
    """Codes, then bins that are not empty, then both ends."""
    encoding, counts = one["encoding"], one["counts"]
    step, offset = encoding["delta"], encoding["offset"]
    codes = 1 << encoding["bitwidth"]
    for code in range(0, codes, 2) if codes <= _MOST_CODES else ():
        left = step * (code + offset - 0.5)
        yield _Mark("code", code, left, left + step, *_RULER, GREY)
    low, high = encoding["min"] - step / 2, encoding["max"] + step / 2
    for number, count in enumerate(counts):
        left = one["first_bin"] + one["bin_width"] * number
        right = left + one["bin_width"]
        what, colour = ("clipped", _CLIPPED) if right < low or left > high else ("values", _VALUES)
        if count:
            yield _Mark(what, count, left, right, _FLOOR, count, colour)
    for name, code in (("min", 0), ("max", codes - 1)):
        at = encoding[name]
        yield _Mark(f"{name}, code", code, at, at, _RULER[0], max(counts), _CODE, 1.0)


def _columns(marks: Sequence[_Mark]) -> dict[str, list[Any]]:
    return {key: [getattr(mark, key) for mark in marks] for key in _Mark._fields}


def _row(one: Mapping[str, Any]) -> tuple[Any, ...]:
    named = (one["layer"], one["tensor"], one["sqnr_db"], sum(one["counts"]))
    parts = (one["encoding"][part] for part in ("min", "max", "delta", "bitwidth"))
    return (*named, *parts, one["clipped"])
