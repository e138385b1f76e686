"""The tracks of a trace: what a result's spans say, put into one another.

A span on a hardware thread says which software thread occupied it, one on a vector context who
locked it; inside it stands what that thread worked on meanwhile, by layer. A job's inferences
contain their subnets, and those the layers and overheads.
"""

from __future__ import annotations

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
    """A span of a track and what it lies in: `depth` 0 is outermost."""

    span: Span
    depth: int


@dataclass(frozen=True)
class Track:
    """One line of a trace: spans from left to right, outer before inner."""

    name: str
    spans: tuple[Nested, ...]


def tracks(result: Result) -> list[Track]:
    """Return the tracks of a result, from top to bottom."""
    flat: dict[str, list[Span]] = defaultdict(list)
    for span in result.timeline.spans:
        flat[span.track].append(span)
    workers = _workers(flat)
    made = []
    for name, spans in flat.items():
        if name.endswith(_SUBNETS):
            continue
        layers = [Nested(span, 0) for span in spans]
        if name.endswith("inference"):
            layers = _inference(result, name, flat)
        elif name.startswith("hardware thread"):
            layers = list(_filled(spans, lambda span: flat.get(span.name, ())))
        elif name.startswith("hvx context"):
            layers = list(_filled(spans, lambda span: flat.get(workers[span], ())))
        layers.sort(key=lambda one: (one.span.t0_ps, -one.span.t1_ps, one.depth))
        made.append(Track(name, tuple(layers)))
    return sorted(made, key=_position)


def _position(track: Track) -> tuple[int, str]:
    kinds = (kind for kind, pattern in enumerate(_ORDER) if re.search(pattern, track.name))
    return next(kinds, len(_ORDER)), track.name


def _inference(result: Result, name: str, flat: Mapping[str, Sequence[Span]]) -> list[Nested]:
    """The inferences of a job, their subnets, and the parts of both."""
    prefix = name.removesuffix("inference")
    job = int(prefix.split()[1]) if prefix else 0
    own = (inference for inference in result.inferences if inference.job == job)
    return [
        *(
            Nested(Span(name, f"inference {number}", one.start_ps, one.end_ps), 0)
            for number, one in enumerate(own)
        ),
        *(Nested(span, 1) for span in flat[f"{prefix}{_SUBNETS}"]),
        *(Nested(span, 2) for span in flat[name]),
    ]


def _workers(flat: Mapping[str, Sequence[Span]]) -> dict[Span, str]:
    """Whose work a lock of a vector context serves: worker k has its graph's k-th context."""
    locks: dict[tuple[str, int], list[Span]] = defaultdict(list)
    for name, spans in flat.items():
        if name.startswith("hvx context"):
            for span in spans:
                locks[span.name, span.t0_ps].append(span)
    served = {}
    for (holder, _), together in locks.items():
        together.sort(key=lambda span: int(span.track.split()[-1]))
        for number, span in enumerate(together):
            worker = f"{holder} worker {number}"
            served[span] = worker if worker in flat else holder
    return served


def _filled(outer: Sequence[Span], inner: Callable[[Span], Sequence[Span]]) -> Iterator[Nested]:
    """Yield spans and, inside each, the parts of its `inner` spans that lie in it."""
    starts: dict[str, list[int]] = {}
    for span in outer:
        yield Nested(span, 0)
        works = inner(span)
        if not works:
            continue
        times = starts.setdefault(works[0].track, [work.t0_ps for work in works])
        first = max(0, bisect_right(times, span.t0_ps) - 1)
        for work in works[first : bisect_left(times, span.t1_ps)]:
            t0, t1 = max(work.t0_ps, span.t0_ps), min(work.t1_ps, span.t1_ps)
            if t1 > t0:
                yield Nested(Span(span.track, work.name, t0, t1), 1)
