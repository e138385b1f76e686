"""All tracks of a trace, one below another, with the names of layers in their slices.

A page must open fast, so only the first tracks of a very long trace are drawn; the sentence gives
the number of the others. Several runs are drawn below each other, on one axis of time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.colours import ENGINE_NAMES, ENGINES, GREY, tint
from hexsim.reports.pages.figures.chart import chart, name_rows, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import number
from hexsim.reports.trace_tracks import Nested, Track, tracks
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_US

MOST_SPANS = 20_000
_ROW, _BORDERS = 30, 80
"""Heights in px."""
_EDGE = 0.46
_INSET = 0.14
_DEEPEST = 2
_OUTER = tint(GREY, 0.5)
"""The colour of spans that contain others."""
_SHADES = (0.9, 0.6)
"""Neighbouring layers differ in shade."""
_PLAIN = (
    (r"\bcpu$", "CPU"),
    (r"\bgpu$", "GPU"),
    (r"\bfastrpc$", "call of the DSP"),
    (r"^hardware thread", "DSP hardware thread"),
    (r"^hvx context", "vector context"),
    (r"q6 main$", "DSP main thread"),
    (r"q6 worker", "DSP worker thread"),
    (r"q6 prefetch$", "copies from DDR"),
    (r"q6 write-back$", "copies to DDR"),
    (r"^hta array$", "HTA multiply-adds"),
    (r"^hta fetch$", "HTA copies from DDR"),
    (r"^hta write-back$", "HTA copies to DDR"),
)


def plain_name(track: str) -> str:
    """Return the name of a track of a trace in plain words."""
    for pattern, words in _PLAIN:
        track = re.sub(pattern, words, track)
    return track


def timeline(result: Result) -> Figure:
    """Return the figure of a result; a recorded one has hardware threads and contexts too."""
    all_tracks = tracks(result)
    drawn = _as_many_as_fit(all_tracks)
    missing = len(all_tracks) - len(drawn)
    remark = f" Too long to be drawn: {number(missing, 'more track')}." if missing else ""
    names = [plain_name(track.name) for track in drawn]
    colours = _Colours([result])
    return Figure(
        "Timeline",
        "Every track of the simulated phone. Neighbouring layers differ in shade. Drag to select "
        f"a part of the time.{remark} Option --trace of hexsim profile and throughput writes all "
        "of it for ui.perfetto.dev.",
        _table(all_tracks, result),
        _chart(drawn, names, result.timeline.end_ps, colours),
        colours.legend,
    )


def timelines(results: Mapping[str, Result]) -> Figure:
    """Return the inferences of several runs below each other, with their names."""
    inferences = {
        name: track
        for name, result in results.items()
        for track in tracks(result)[:1]
        if track.name.endswith("inference")
    }
    end_ps = max(result.timeline.end_ps for result in results.values())
    colours = _Colours(list(results.values()))
    rows = [(name, result.total_ps / PS_PER_US) for name, result in results.items()]
    return Figure(
        "Inferences below each other",
        "What each run does when, on one axis of time. Neighbouring layers differ in shade.",
        FigureTable(("run", "us"), rows),
        _chart(list(inferences.values()), list(inferences), end_ps, colours),
        colours.legend,
    )


class _Colours:
    """The colours of spans: those of the engine of a layer, grey for all else."""

    def __init__(self, results: Sequence[Result]) -> None:
        layers = [layer for result in results for layer in result.layers]
        self._engines = {layer.name: layer.engine for layer in layers}
        self._numbers = {name: number for number, name in enumerate(self._engines)}
        engines = dict.fromkeys(layer.engine for layer in layers)
        self.legend = (
            *((ENGINES[engine], f"layer on {ENGINE_NAMES[engine]}") for engine in engines),
            (GREY, "overhead: no layer"),
            (_OUTER, "contains others: an inference, who holds a thread or a vector context"),
        )

    def of(self, name: str, works: bool) -> str:
        if not works:
            return _OUTER
        if name not in self._engines:
            return GREY
        shade = _SHADES[self._numbers[name] % len(_SHADES)]
        return tint(ENGINES[self._engines[name]], shade)


def _chart(drawn: Sequence[Track], names: Sequence[str], end_ps: int, colours: _Colours) -> Any:
    spans = [
        _span(row, nested, nested.depth == inner, colours)
        for row, (track, inner) in enumerate(zip(drawn, map(_inner, drawn), strict=True))
        for nested in track.spans
    ]
    keys = ("name", "left", "right", "us", "bottom", "top", "colour", "works", "row")
    marks = source({key: [span[key] for span in spans] for key in keys})
    marks.name = "spans"
    plot = chart(
        "us from the start",
        "",
        height=_ROW * len(drawn) + _BORDERS,
        tooltip=(("", "@name"), ("from", "@left{0.0} us"), ("takes", "@us{0.00} us")),
        zoom="xbox_zoom",
        x_range=(0, end_ps / PS_PER_US),
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
        source=marks,
    )
    words = source({"x": [], "y": [], "text": []})
    words.name = "slices"
    style = {"text_align": "center", "text_baseline": "middle", "text_font_size": "11px"}
    plot.text("x", "y", "text", source=words, text_color="#14181f", **style)
    name_rows(plot, names)
    return plot


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


def _span(row: int, nested: Nested, works: bool, colours: _Colours) -> dict[str, Any]:
    span, depth = nested.span, min(nested.depth, _DEEPEST)
    return {
        "name": span.name,
        "left": span.t0_ps / PS_PER_US,
        "right": span.t1_ps / PS_PER_US,
        "us": (span.t1_ps - span.t0_ps) / PS_PER_US,
        "bottom": -row - _EDGE + _INSET * depth,
        "top": -row + _EDGE - _INSET * depth,
        "colour": colours.of(span.name, works),
        "works": int(works),
        "row": row,
    }


def _table(all_tracks: Sequence[Track], result: Result) -> FigureTable:
    end = max(1, result.timeline.end_ps)
    rows = []
    for track in all_tracks:
        busy = sum(span.span.t1_ps - span.span.t0_ps for span in track.spans if span.depth == 0)
        rows.append(
            (plain_name(track.name), track.name, len(track.spans), busy / PS_PER_US, busy / end)
        )
    return FigureTable(("track", "in a trace", "spans", "busy us", "share"), rows)
