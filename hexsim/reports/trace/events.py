"""A simulation as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open.

JSON of the trace event format: complete events ("X") on threads, counters ("C") and metadata ("M")
that names and orders them; every result is a process of its own. Times are microseconds from its
start, in whole nanoseconds, so that rounding keeps spans within one another.

Source: "Trace Event Format" of the Chromium project; Perfetto, docs "Other trace formats".
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hexsim import __version__
from hexsim.reports.trace.tracks import Track, tracks
from hexsim.timing.results import LayerTiming, Level, Result

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
    facts = _facts(result)
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


def _facts(result: Result) -> dict[tuple[str, int], Event]:
    """Return the details of each layer, by its name and start."""
    return {
        (layer.name, layer.start_ps): _layer(layer)
        for inference in result.inferences
        for layer in inference.layers
    }


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
