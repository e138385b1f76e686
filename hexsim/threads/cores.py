"""How many threads share a layer, or work on weights, if nobody says; and work on all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_MOST_THREADS = 4
"""Layers of a few dozen rows leave more of them waiting (assumed; measured with two)."""
_MANY = 16
"""Steps of work from which on it is worth to start threads (assumed)."""
_CGROUP = Path("/sys/fs/cgroup")
"""Where a container finds its own limits."""


def default_threads() -> int:
    """One per core that this process may use, and at most four."""
    return max(1, min(_allowed_cores(), _paid_cores(_CGROUP), _MOST_THREADS))


def spread(work: Callable[[slice], None], count: int, step: int) -> None:
    """Do `work` on all of `count`, `step` at a time, on all cores if there are many steps.

    `work` is what numpy does without holding the interpreter.
    """
    parts = [slice(at, at + step) for at in range(0, count, step)]
    if len(parts) < _MANY:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(default_threads()) as cores:
        for _ in cores.map(work, parts):
            pass


def _allowed_cores() -> int:
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


def _paid_cores(cgroup: Path) -> int:
    """Cores' worth of time that a container may spend, rounded down: threads beyond it are stopped
    until the next period, wherever they are.
    """
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            folder = cgroup / "cpu"
            quota, period = (
                (folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period")
            )
        return int(quota) // int(period) if int(quota) > 0 else _MOST_THREADS
    except (OSError, ValueError):  # no limit: "max", or no such file
        return _MOST_THREADS
