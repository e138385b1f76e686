"""All tracks of a trace, one below another, with the names of layers in their slices.

A page must open fast, so only the first tracks of a very long trace are drawn; the sentence gives
the number of the others. Several runs are drawn below each other, on one axis of time.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.errors import spelled
from hexsim.reports.colours import ENGINES, GREY, tint
from hexsim.reports.pages.figures.chart import (
    Figure,
    FigureTable,
    chart,
    name_rows,
    rectangles,
    source,
)
from hexsim.reports.text import number
from hexsim.reports.trace import Nested, Track, tracks
from hexsim.runtimes import Engine
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_US

MOST_SPANS = 20_000
_ROW, _BORDERS = 30, 80
"""Heights in px."""
_EDGE = 0.46
_INSET = 0.14
_DEEPEST = 2
_OUTER = GREY + "66"
"""The colour of spans that contain others."""
_SHADES = (0.9, 0.6)
"""Neighbouring layers differ in shade."""
_PLAIN = {
    **{r"\bcpu$": "CPU", r"\bgpu$": "GPU", r"\bfastrpc$": "call of the DSP"},
    **{"^hardware thread": "DSP hardware thread", "^hvx context": "vector context"},
    **{"q6 main$": "DSP main thread", "q6 worker": "DSP worker thread"},
    **{"q6 prefetch$": "copies from DDR", "q6 write-back$": "copies to DDR"},
    **{"^hta array$": "HTA multiply-adds", "^hta fetch$": "HTA copies from DDR"},
    **{"^hta write-back$": "HTA copies to DDR"},
}
_Row = tuple[str, Track, Result]
"""A name, and the track that stands beside it."""


def plain_name(track: str) -> str:
    """Return the name of a track of a trace in plain words."""
    for pattern, words in _PLAIN.items():
        track = re.sub(pattern, words, track)
    return track


def timeline(result: Result) -> Figure:
    """Return the figure of a result; a recorded one has hardware threads and contexts too."""
    all_tracks = tracks(result)
    drawn = _as_many_as_fit(all_tracks)
    missing = len(all_tracks) - len(drawn)
    remark = f" Too long to be drawn: {number(missing, 'more track')}." if missing else ""
    return _figure(
        "Timeline",
        f"Every track of the simulated phone.{remark} Option {spelled('trace')} of hexsim profile "
        "and "
        "throughput writes all of it for ui.perfetto.dev.",
        [(plain_name(track.name), track, result) for track in drawn],
        _table(all_tracks, result),
    )


def timelines(results: Mapping[str, Result], missing: int = 0) -> Figure:
    """Return the inferences of several runs below each other, with their names.

    The text says how many more runs are `missing`.
    """
    remark = f" Not drawn: {number(missing, 'more run')}." if missing else ""
    return _figure(
        "Inferences below each other",
        f"What each run does when, on one axis of time.{remark}",
        [(name, tracks(result)[0], result) for name, result in results.items()],
        FigureTable(("run", "us"), [(name, result.total_us) for name, result in results.items()]),
    )


def _figure(title: str, text: str, rows: Sequence[_Row], table: FigureTable) -> Figure:
    engines = dict.fromkeys(
        engine for _, track, result in rows for engine in _engines(track, result).values()
    )
    legend = (
        *((ENGINES[engine], f"layer on {engine.upper()}") for engine in engines),
        (GREY, "overhead: no layer"),
        (_OUTER, "contains others: an inference, who holds a thread or a vector context"),
    )
    text += " Neighbouring layers differ in shade."
    is_empty = not any(track.spans for _, track, _ in rows)
    return Figure(title, text, table, None if is_empty else _chart(rows), legend)


def _chart(rows: Sequence[_Row]) -> Any:
    end_ps = max(result.timeline.end_ps for _, _, result in rows)
    spans: list[dict[str, Any]] = []
    for row, (_, track, result) in enumerate(rows):
        colours = {
            name: tint(ENGINES[engine], _SHADES[place % len(_SHADES)])
            for place, (name, engine) in enumerate(_engines(track, result).items())
        }
        inner = _inner(track)
        spans += [_span(row, nested, nested.depth == inner, colours) for nested in track.spans]
    plot = chart(
        "us from the start",
        "",
        height=_ROW * len(rows) + _BORDERS,
        tooltip=(("", "@name"), ("from", "@left{0.0} us"), ("takes", "@us{0.00} us")),
        zoom="xbox_zoom",
        x_range=(0, end_ps / PS_PER_US),
        y_range=(0.5 - len(rows), 0.5),
    )
    marks = rectangles(plot, {key: [span[key] for span in spans] for key in spans[0]})
    words = source({"x": [], "y": [], "text": []})
    marks.name, words.name = "spans", "slices"
    style = {"text_align": "center", "text_baseline": "middle", "text_font_size": "11px"}
    plot.text("x", "y", "text", source=words, text_color="#14181f", **style)
    name_rows(plot, [name for name, _, _ in rows])
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


def _engines(track: Track, result: Result) -> dict[str, Engine]:
    """Return the engine of each layer by name, as far as a track may show it.

    Without a job in its name, a track is of hardware that several jobs share: of layers with one
    name those count that the CPU does not run.
    """
    job = re.match(r"job (\d+) ", track.name)
    engines: dict[str, Engine] = {}
    for inference in result.inferences:
        if job is None or inference.job == int(job[1]):
            for layer in inference.layers:
                if engines.get(layer.name, "cpu") == "cpu":
                    engines[layer.name] = layer.engine
    return engines


def _inner(track: Track) -> int:
    """Return the depth of spans of work; spans of lesser depth contain them."""
    return max((nested.depth for nested in track.spans), default=0)


def _span(row: int, nested: Nested, works: bool, colours: Mapping[str, str]) -> dict[str, Any]:
    span, depth = nested.span, min(nested.depth, _DEEPEST)
    return {
        "name": span.name,
        "left": span.t0_ps / PS_PER_US,
        "right": span.t1_ps / PS_PER_US,
        "us": (span.t1_ps - span.t0_ps) / PS_PER_US,
        "bottom": -row - _EDGE + _INSET * depth,
        "top": -row + _EDGE - _INSET * depth,
        "colour": colours.get(span.name, GREY) if works else _OUTER,
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
