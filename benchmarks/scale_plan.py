"""What many workers take, from what one takes: the arithmetic and the tables of docs/scale.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one `thing` costs.

    A worker needs `seconds` for each and `start_s` until its first one is done; at its peak it
    holds `worker_bytes`. Whoever asks sends `shared_bytes` to each worker once, gets
    `result_bytes` for each thing, keeps a part in `keeping_s` and ends with `joining_s` for each
    part. `parts` is how many a number of things is cut into. `file_bytes` for each are on disk.
    """

    thing: str
    seconds: float
    start_s: float
    parts: Callable[[int], int]
    shared_bytes: int
    result_bytes: float
    file_bytes: float
    worker_bytes: int
    keeping_s: float
    joining_s: float


def taken_s(cost: Cost, things: int, workers: int, parts_per_s: float) -> float:
    """Seconds of so many workers: they start, work in whole parts, and what they find is joined.

    Who asks hands out and keeps one part after the other, and may be what workers wait for.
    """
    parts = cost.parts(things)
    working = math.ceil(parts / workers) * things / parts * cost.seconds
    asking = parts * (1 / parts_per_s + cost.keeping_s)
    return cost.start_s + max(working, asking) + parts * cost.joining_s


def planned_table(asked: Sequence[tuple[Cost, int]], parts_per_s: float) -> str:
    """How long 1, 16 and 256 workers take, and what they hold."""
    lines = [
        "| what | parts | 1 worker | 16 workers | 256 workers | results | memory of 256 |",
        "|---|---|---|---|---|---|---|",
    ]
    for cost, things in asked:
        times = [in_words(taken_s(cost, things, number, parts_per_s)) for number in (1, 16, 256)]
        thing_bytes = cost.file_bytes or cost.result_bytes
        sizes = [f"{things * thing_bytes / 1e6:,.0f} MB", f"{256 * cost.worker_bytes / 1e9:.0f} GB"]
        what = f"{things:,} {cost.thing}s".replace(",", " ")
        lines.append(f"| {' | '.join((what, str(cost.parts(things)), *times, *sizes))} |")
    return "\n".join(lines)


def measured_table(costs: Sequence[Cost]) -> str:
    """What was measured, one column each."""
    rows = {
        "a worker's time for one": [f"{1e3 * cost.seconds:.1f} ms" for cost in costs],
        "until a new worker's first are done": [f"{cost.start_s:.1f} s" for cost in costs],
        "memory of a worker at its peak": [f"{cost.worker_bytes / 1e6:.0f} MB" for cost in costs],
        "sent to each worker once": [f"{cost.shared_bytes / 1e3:,.0f} KB" for cost in costs],
        "result of one, as it is sent": [f"{cost.result_bytes:,.0f} bytes" for cost in costs],
        "result of one, in the file": [
            f"{cost.file_bytes:.0f} bytes" if cost.file_bytes else "-" for cost in costs
        ],
        "taking in a part": [f"{1e3 * cost.keeping_s:.1f} ms" for cost in costs],
        "joining, for each part": [
            f"{1e3 * cost.joining_s:.1f} ms" if cost.joining_s else "-" for cost in costs
        ],
    }
    head = " | ".join(f"a {cost.thing}" for cost in costs)
    lines = [f"| | {head} |", f"|---|{'---|' * len(costs)}"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(row)} |" for name, row in rows.items())])


def per_core_table(seconds: Mapping[str, float]) -> str:
    """Pictures per second of one core, from the seconds that each takes."""
    lines = ["| what | ms for a picture | pictures per second and core |", "|---|---|---|"]
    lines += [
        f"| {name} | {1e3 * second:.1f} | {1 / second:.0f} |" for name, second in seconds.items()
    ]
    return "\n".join(lines)


def in_words(seconds: float) -> str:
    """A duration in its own unit."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
