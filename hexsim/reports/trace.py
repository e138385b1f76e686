"""A simulation as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open.

JSON of the trace event format: complete events ("X") on threads, counters ("C") and metadata ("M")
that names and orders them; every result, such as a case of a benchmark, is a process of its own,
and background clients are one more. Times are microseconds from its start, in whole nanoseconds, so
that rounding keeps spans within one another.

Source: "Trace Event Format" of the Chromium project; Perfetto, docs "Other trace formats".

A span on a hardware thread names the software thread that occupied it, a span on a vector context
the graph that locked it; nested in it is the work of that thread meanwhile, by layer. The
inferences of a job contain their subnets, and these contain the layers and overheads.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hexsim import __version__
from hexsim.records import dataclass, replace
from hexsim.results.benchmark import Inference
from hexsim.results.costs import Footprint
from hexsim.timing.results import LayerTiming, Level, Result, Span

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


_PS_PER_NS = 1000
_NS_PER_US = 1000
_COUNTERS = {"B": (2**-20, "MiB"), "B/s": (1e-9, "GB/s"), "cores": (1.0, "cores")}
"""The scale and unit in which a level is shown, by its unit."""

_CATEGORY = "hexsim"
"""The category of all events; some readers require one."""

Event = dict[str, Any]


def trace_json(results: Iterable[tuple[str, Result]]) -> str:
    """Return the document for results, each with the name of its process; one event on a line.

    The results should be of recorded workloads; without a record the tracks of hardware threads
    and vector contexts and the counters are missing.
    """
    events = [
        json.dumps(event, separators=(",", ":"))
        for number, (name, result) in enumerate(results, 1)
        for event in _process(number, name, result)
    ]
    other = json.dumps({"hexsim_version": __version__})
    lines = ",\n".join(events)
    return f'{{"displayTimeUnit":"ns","otherData":{other},"traceEvents":[\n{lines}\n]}}\n'


def _process(pid: int, name: str, result: Result) -> Iterator[Event]:
    yield _named("process_name", pid, 0, name=name)
    yield _named("process_sort_index", pid, 0, sort_index=pid)
    facts = {
        (layer.name, layer.start_ps): _layer(layer)
        for inference in result.inferences
        for layer in inference.layers
    }
    for tid, track in enumerate(tracks(result), 1):
        yield _named("thread_name", pid, tid, name=track.name)
        yield _named("thread_sort_index", pid, tid, sort_index=tid)
        yield from _spans(pid, tid, track, facts)
    for level in result.timeline.levels:
        yield from _counter(pid, level)


def _named(event: str, pid: int, tid: int, **args: Any) -> Event:
    return {"ph": "M", "name": event, "cat": "__metadata", "pid": pid, "tid": tid, "args": args}


def _spans(
    pid: int, tid: int, track: Track, facts: Mapping[tuple[str, int], Event]
) -> Iterator[Event]:
    is_inference = track.name.endswith("inference")
    for nested in track.spans:
        span = nested.span
        start, end = _ns(span.t0_ps), _ns(span.t1_ps)
        event = {
            "ph": "X",
            "name": span.name,
            "cat": _CATEGORY,
            "pid": pid,
            "tid": tid,
            "ts": start / _NS_PER_US,
            "dur": (end - start) / _NS_PER_US,
        }
        if is_inference and (span.name, span.t0_ps) in facts:
            event["args"] = facts[span.name, span.t0_ps]
        yield event


def _layer(layer: LayerTiming) -> Event:
    return {
        "type": layer.type,
        "engine": layer.engine,
        "bound": layer.bound,
        "cycles": layer.cycles,
        "macs": layer.macs,
        "ddr_bytes": layer.ddr_bytes,
        "cost_model": layer.cost_model,
    }


def _counter(pid: int, level: Level) -> Iterator[Event]:
    scale, unit = _COUNTERS[level.unit]
    for time, value in level.steps:
        yield {
            "ph": "C",
            "name": level.name,
            "cat": _CATEGORY,
            "pid": pid,
            "tid": 0,
            "ts": _ns(time) / _NS_PER_US,
            "args": {unit: value * scale},
        }


def _ns(time_ps: int) -> int:
    return (time_ps + _PS_PER_NS // 2) // _PS_PER_NS


def benchmark_trace(cases: Sequence[Inference]) -> str:
    """Return the trace of cases that were recorded."""
    results = []
    for case in cases:
        name = f"{case.network} on {case.chip} {case.runtime}"
        if case.timing is not None:
            results.append((name, with_memory(case.timing, case.memory)))
        if case.background is not None and case.background.timing is not None:
            loads = ", ".join(case.background.loads)
            results.append((f"{name} beside {loads}", case.background.timing))
    return trace_json(results)


def with_memory(timing: Result, memory: Footprint) -> Result:
    """Return the result with the activations that are live during the first inference as a level.

    Between two layers the level stays at that of the first.
    """
    live = {layer.name: layer.live_bytes for layer in memory.layers}
    steps = [(layer.start_ps, float(live.get(layer.name, 0))) for layer in timing.layers]
    steps.append((timing.inferences[0].end_ps, 0.0))
    level = Level("live activations", "B", memory.live_bytes, tuple(steps))
    timeline = replace(timing.timeline, levels=(*timing.timeline.levels, level))
    return replace(timing, timeline=timeline)
