"""All tracks of a trace, one below another.

A page must open fast, so only the first tracks of a very long trace are drawn; the sentence gives
the number of the others.
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
    """Return the figure of a result; a recorded one has hardware threads and contexts too."""
    all_tracks = tracks(result)
    drawn = _as_many_as_fit(all_tracks)
    colours: dict[str, str] = {}
    spans = [
        _span(-row, nested, nested.depth == inner, colours)
        for row, (track, inner) in enumerate(zip(drawn, map(_inner, drawn), strict=True))
        for nested in track.spans
    ]
    keys = ("name", "left", "right", "us", "bottom", "top", "colour")
    columns = {key: [span[key] for span in spans] for key in keys}
    plot = chart(
        "us from the start",
        "",
        height=_ROW * len(drawn) + _BORDERS,
        tooltip=(("", "@name"), ("from", "@left{0.0} us"), ("takes", "@us{0.00} us")),
        y_range=(0.5 - len(drawn), 0.5),
    )
    plot.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="colour",
        line_color=None,
        fill_alpha="alpha",
        source=source(columns),
    )
    plot.yaxis.ticker = [-row for row in range(len(drawn))]
    plot.yaxis.major_label_overrides = {-row: track.name for row, track in enumerate(drawn)}
    plot.ygrid.visible = False
    missing = len(all_tracks) - len(drawn)
    remark = f" Too long to be drawn: {number(missing, 'more track')}." if missing else ""
    return Figure(
        "Timeline",
        "Every track of the simulated phone. Grey is what contains others: inferences, and who "
        f"holds a thread or a vector context.{remark} Option --trace of hexsim profile and "
        "throughput writes all of it for ui.perfetto.dev.",
        _table(all_tracks, result),
        plot,
    )


def _as_many_as_fit(all_tracks: Sequence[Track]) -> list[Track]:
    drawn: list[Track] = []
    spans = 0
    for track in all_tracks:
        spans += len(track.spans)
        if drawn and spans > MOST_SPANS:
            break
        drawn.append(track)
    return drawn


def _inner(track: Track) -> int:
    """Return the depth of spans of work; spans of lesser depth contain them."""
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


def _table(all_tracks: Sequence[Track], result: Result) -> FigureTable:
    end = max(1, result.timeline.end_ps)
    rows = []
    for track in all_tracks:
        busy = sum(span.span.t1_ps - span.span.t0_ps for span in track.spans if span.depth == 0)
        rows.append((track.name, len(track.spans), busy / PS_PER_US, busy / end))
    return FigureTable(("track", "spans", "busy us", "share"), rows)
