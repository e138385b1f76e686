"""All tracks of a trace, one below another, with the names of layers in their slices.

A page must open fast, so of a very long trace only the beginning is drawn, and the sentence says
how much. Several runs are drawn below each other, on one axis of time.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.errors import spelled
from hexsim.reports.colours import ENGINES, GREY, tint
from hexsim.reports.pages.figures.chart import Chart, Figure, FigureTable, columns_of
from hexsim.reports.text import number
from hexsim.reports.trace import Track, tracks
from hexsim.runtimes import Engine
from hexsim.texts.figures import figure
from hexsim.timing.picoseconds import PS_PER_US
from hexsim.timing.results import Result

MOST_SPANS = 60_000
_ROW = 30
"""The height of a track in px."""
_COLUMNS = ("name", "left", "right", "row", "depth", "inner", "colour")
_OUTER = GREY
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
    until, end = _until(all_tracks), result.timeline.end_ps
    remark = ""
    if until is not None:
        parts = (figure(time / PS_PER_US) for time in (until, end))
        remark = " Drawn: the first {} of {} us.".format(*parts)
    return _figure(
        "Timeline",
        f"Every track of the simulated phone.{remark} Option {spelled('trace')} of hexsim profile "
        "and "
        "throughput writes all of it for ui.perfetto.dev.",
        [(plain_name(track.name), track, result) for track in all_tracks],
        _table(all_tracks, result),
        until,
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


def _figure(
    title: str, text: str, rows: Sequence[_Row], table: FigureTable, until: int | None = None
) -> Figure:
    engines = dict.fromkeys(
        engine for _, track, result in rows for engine in _engines(track, result).values()
    )
    legend = (
        *((ENGINES[engine], f"layer on {engine.upper()}") for engine in engines),
        (GREY, "overhead: no layer"),
        (_OUTER, "thin: contains others: an inference, who holds a thread or a vector context"),
    )
    text += " Neighbouring layers differ in shade."
    is_empty = not any(track.spans for _, track, _ in rows)
    return Figure(
        title, text, table, None if is_empty else _chart(rows, until or sys.maxsize), legend
    )


def _chart(rows: Sequence[_Row], until_ps: int) -> Chart:
    end_ps = min(until_ps, max(result.timeline.end_ps for _, _, result in rows))
    marks: list[tuple[Any, ...]] = []
    for row, (_, track, result) in enumerate(rows):
        colours = {
            name: tint(ENGINES[engine], _SHADES[place % len(_SHADES)])
            for place, (name, engine) in enumerate(_engines(track, result).items())
        }
        inner = max((nested.depth for nested in track.spans), default=0)
        for span, depth in ((nested.span, nested.depth) for nested in track.spans):
            if span.t0_ps >= end_ps:
                continue
            ends = (span.t0_ps / PS_PER_US, min(span.t1_ps, end_ps) / PS_PER_US)
            colour = colours.get(span.name, GREY) if depth == inner else _OUTER
            marks.append((span.name, *(round(us, 4) for us in ends), row, depth, inner, colour))
    drawn = Chart(
        "us from the start",
        row_height=_ROW,
        tooltip=(("", "{name}"), ("from", "{left} us"), ("takes", "{width} us")),
        rows=[name for name, _, _ in rows],
        x=(0.0, end_ps / PS_PER_US),
    )
    drawn.draw("spans", **columns_of(_COLUMNS, marks))
    return drawn


def _until(all_tracks: Sequence[Track]) -> int | None:
    """Return the time in ps up to which as many spans begin as a page can draw; None: all."""
    starts = sorted(nested.span.t0_ps for track in all_tracks for nested in track.spans)
    return starts[MOST_SPANS] if len(starts) > MOST_SPANS else None


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


def _table(all_tracks: Sequence[Track], result: Result) -> FigureTable:
    end = max(1, result.timeline.end_ps)
    rows = []
    for track in all_tracks:
        busy = sum(span.span.t1_ps - span.span.t0_ps for span in track.spans if span.depth == 0)
        rows.append(
            (plain_name(track.name), track.name, len(track.spans), busy / PS_PER_US, busy / end)
        )
    return FigureTable(("track", "in a trace", "spans", "busy us", "share"), rows)
