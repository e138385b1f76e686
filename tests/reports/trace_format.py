"""The trace event format, as published by the Chromium project, as far as anybody needs to check.

An independent reading: which phases there are, what each must and may hold, in which units; and
the rule of all viewers that complete events of one thread lie within or beside each other.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]

COMMON = {"name", "ph", "pid", "tid", "args", "cat"}
TIMED = COMMON | {"ts", "tts", "cname"}
PHASES = {
    "X": (TIMED | {"dur", "tdur", "id"}, {"name", "cat", "ph", "pid", "tid", "ts", "dur"}),
    "C": (TIMED | {"id"}, {"name", "cat", "ph", "pid", "ts", "args"}),
    "M": (COMMON | {"ts"}, {"name", "cat", "ph", "pid", "args"}),
}
"""The phases that hexsim may use: keys that an event may have, and those that it must."""
METADATA = {
    "process_name": ("name", str),
    "process_labels": ("labels", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}


def complaints(text: str) -> list[str]:
    """What is wrong with a trace; empty if nothing is."""
    document = json.loads(text)
    faults = []
    if set(document) - {"traceEvents", "displayTimeUnit", "otherData", "stackFrames", "samples"}:
        faults.append(f"unknown keys in {sorted(document)}")
    if document.get("displayTimeUnit") not in ("ms", "ns"):
        faults.append("displayTimeUnit is ms or ns")
    for event in document["traceEvents"]:
        faults += [f"{complaint}: {event}" for complaint in _event(event)]
    return faults or _nesting(document["traceEvents"]) + _names(document["traceEvents"])


def _event(event: Event) -> list[str]:
    if event.get("ph") not in PHASES:
        return ["unknown phase"]
    allowed, required = PHASES[event["ph"]]
    faults = []
    if not required <= set(event) <= allowed:
        faults.append(f"keys of phase {event['ph']}")
    if not isinstance(event.get("name"), str):
        faults.append("name is text")
    faults += [f"{k} is an integer" for k in ("pid", "tid") if type(event.get(k, 0)) is not int]
    for key in ("ts", "dur"):
        value = event.get(key, 0)
        if type(value) not in (int, float) or value < 0:
            faults.append(f"{key} is a time in microseconds")
    args = event.get("args", {})
    if not isinstance(args, dict):
        faults.append("args is an object")
    elif event["ph"] == "C":
        if not args or any(type(value) not in (int, float) for value in args.values()):
            faults.append("a counter has numbers")
    elif event["ph"] == "M":
        key, kind = METADATA.get(event["name"], ("", object))
        if type(args.get(key)) is not kind:
            faults.append("metadata that viewers know")
    return faults


def _nesting(events: list[Event]) -> list[str]:
    """Complete events in the order of the file: each lies in the open ones or after them."""
    faults = []
    threads: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
    for thread in threads.values():
        ends: list[int] = []
        last = 0
        for event in thread:
            start, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
            while ends and ends[-1] <= start:
                ends.pop()
            if start < last or (ends and end > ends[-1]):
                faults.append(f"does not nest: {event}")
            ends.append(end)
            last = start
    return faults


def _names(events: list[Event]) -> list[str]:
    """Every thread with events has a name, and no two of one process have the same."""
    names = [
        (event["pid"], event["tid"], event["args"]["name"])
        for event in events
        if event["name"] == "thread_name"
    ]
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
    faults = [f"thread {thread} has no name" for thread in used - {name[:2] for name in names}]
    if len({(pid, name) for pid, _, name in names}) < len(names):
        faults.append("two threads have the same name")
    return faults


def ns(microseconds: float) -> int:
    """Whole nanoseconds, as Perfetto counts."""
    return round(microseconds * 1000)
