"""All tracks of a trace beneath each other: who did what, and when.

A page must open fast, so of a very long trace only the first tracks are drawn; the sentence says
how many are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import number
from hexsim.reports.trace_tracks import Nested, Track, tracks
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_US

MOST_SPANS = 20_000
_ROW, _BORDERS = 30, 90
"""Heights in px."""
_EDGE = 0.46
_INSET = 0.14
_DEEPEST = 2


def timeline(result: Result) -> Figure:
    """Return the figure of a result; of a recorded one it has hardware threads and contexts."""
    every = tracks(result)
    shown = _as_many_as_fit(every)
    colours: dict[str, str] = {}
    spans = [
        _span(-row, nested, nested.depth == inner, colours)
        for row, (track, inner) in enumerate(zip(shown, map(_inner, shown), strict=True))
        for nested in track.spans
    ]
    keys = ("name", "left", "right", "us", "bottom", "top", "colour")
    columns = {key: [span[key] for span in spans] for key in keys}
    made = chart(
        "us from the start",
        "",
        height=_ROW * len(shown) + _BORDERS,
        told=(("", "@name"), ("from", "@left{0.0} us"), ("takes", "@us{0.00} us")),
        y_range=(0.5 - len(shown), 0.5),
    )
    made.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="colour",
        line_color=None,
        fill_alpha="alpha",
        source=source(columns),
    )
    made.yaxis.ticker = [-row for row in range(len(shown))]
    made.yaxis.major_label_overrides = {-row: track.name for row, track in enumerate(shown)}
    made.ygrid.visible = False
    missing = len(every) - len(shown)
    cut = f" Too long to be drawn: {number(missing, 'more track')}." if missing else ""
    return Figure(
        "Timeline",
        "Every track of the simulated phone. Grey is what contains others: inferences, and who "
        f"holds a thread or a vector context.{cut} Option --trace of hexsim profile and throughput "
        "writes all of it for ui.perfetto.dev.",
        _table(every, result),
        made,
    )


def _as_many_as_fit(every: Sequence[Track]) -> list[Track]:
    shown: list[Track] = []
    spans = 0
    for track in every:
        spans += len(track.spans)
        if shown and spans > MOST_SPANS:
            break
        shown.append(track)
    return shown


def _inner(track: Track) -> int:
    """The depth of what does work; all above it contains that."""
    return max((nested.depth for nested in track.spans), default=0)


def _span(row: int, nested: Nested, works: bool, colours: dict[str, str]) -> dict[str, Any]:
    span, depth = nested.span, min(nested.depth, _DEEPEST)
    name = span.name
    colour = colours.setdefault(name, PALETTE[len(colours) % len(PALETTE)]) if works else GREY
    return {
        "name": name,
        "left": span.t0_ps / PS_PER_US,
        "right": span.t1_ps / PS_PER_US,
        "us": (span.t1_ps - span.t0_ps) / PS_PER_US,
        "bottom": row - _EDGE + _INSET * depth,
        "top": row + _EDGE - _INSET * depth,
        "colour": colour,
    }


def _table(every: Sequence[Track], result: Result) -> FigureTable:
    end = max(1, result.timeline.end_ps)
    rows = []
    for track in every:
        busy = sum(span.span.t1_ps - span.span.t0_ps for span in track.spans if span.depth == 0)
        rows.append((track.name, len(track.spans), busy / PS_PER_US, busy / end))
    return FigureTable(("track", "spans", "busy us", "share"), rows)
