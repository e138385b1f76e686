"""The tracks of a trace: the spans of a result, nested.

A span on a hardware thread names the software thread that occupied it, a span on a vector context
the graph that locked it; nested in it is the work of that thread meanwhile, by layer. The
inferences of a job contain their subnets, and these contain the layers and overheads.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hexsim.timing.results import Result, Span

_ORDER = (
    r"inference$",
    r"cpu$",
    r"fastrpc$",
    r"gpu$",
    r"hardware thread",
    r"hvx context",
    r"hta ",
    r"q6 ",
)
"""Kinds of tracks from top to bottom; all others (background clients) come last."""

_SUBNETS = "subnets"


@dataclass(frozen=True)
class Nested:
    """A span of a track and its depth of nesting; `depth` 0 is outermost."""

    span: Span
    depth: int


@dataclass(frozen=True)
class Track:
    """One line of a trace: spans from left to right, outer before inner."""

    name: str
    spans: tuple[Nested, ...]


def tracks(result: Result) -> list[Track]:
    """Return the tracks of a result, from top to bottom."""
    spans_by_track: dict[str, list[Span]] = defaultdict(list)
    for span in result.timeline.spans:
        spans_by_track[span.track].append(span)
    workers = _workers(spans_by_track)
    result_tracks = []
    for name, spans in spans_by_track.items():
        if name.endswith(_SUBNETS):
            continue
        layers = [Nested(span, 0) for span in spans]
        if name.endswith("inference"):
            layers = _inference(result, name, spans_by_track)
        elif name.startswith("hardware thread"):
            layers = list(_filled(spans, lambda span: spans_by_track.get(span.name, ())))
        elif name.startswith("hvx context"):
            layers = list(_filled(spans, lambda span: spans_by_track.get(workers[span], ())))
        layers.sort(key=lambda nested: (nested.span.t0_ps, -nested.span.t1_ps, nested.depth))
        result_tracks.append(Track(name, tuple(layers)))
    return sorted(result_tracks, key=_position)


def _position(track: Track) -> tuple[int, str]:
    kinds = (kind for kind, pattern in enumerate(_ORDER) if re.search(pattern, track.name))
    return next(kinds, len(_ORDER)), track.name


def _inference(
    result: Result, name: str, spans_by_track: Mapping[str, Sequence[Span]]
) -> list[Nested]:
    """Return the inferences of a job, their subnets, and the parts of both."""
    prefix = name.removesuffix("inference")
    job = int(prefix.split()[1]) if prefix else 0
    own = (inference for inference in result.inferences if inference.job == job)
    return [
        *(
            Nested(Span(name, f"inference {number}", inference.start_ps, inference.end_ps), 0)
            for number, inference in enumerate(own)
        ),
        *(Nested(span, 1) for span in spans_by_track[f"{prefix}{_SUBNETS}"]),
        *(Nested(span, 2) for span in spans_by_track[name]),
    ]


def _workers(spans_by_track: Mapping[str, Sequence[Span]]) -> dict[Span, str]:
    """Return the worker of each lock of a vector context: worker k has its graph's k-th context."""
    locks: dict[tuple[str, int], list[Span]] = defaultdict(list)
    for name, spans in spans_by_track.items():
        if name.startswith("hvx context"):
            for span in spans:
                locks[span.name, span.t0_ps].append(span)
    workers = {}
    for (holder, _), graph_locks in locks.items():
        graph_locks.sort(key=lambda span: int(span.track.split()[-1]))
        for number, span in enumerate(graph_locks):
            worker = f"{holder} worker {number}"
            workers[span] = worker if worker in spans_by_track else holder
    return workers


def _filled(outer: Sequence[Span], inner: Callable[[Span], Sequence[Span]]) -> Iterator[Nested]:
    """Yield spans and, inside each, the parts of its `inner` spans that lie in it."""
    starts: dict[str, list[int]] = {}
    for span in outer:
        yield Nested(span, 0)
        inner_spans = inner(span)
        if not inner_spans:
            continue
        track = inner_spans[0].track
        if track not in starts:
            starts[track] = [work.t0_ps for work in inner_spans]
        times = starts[track]
        first = max(0, bisect_right(times, span.t0_ps) - 1)
        for work in inner_spans[first : bisect_left(times, span.t1_ps)]:
            start, end = max(work.t0_ps, span.t0_ps), min(work.t1_ps, span.t1_ps)
            if end > start:
                yield Nested(Span(span.track, work.name, start, end), 1)
