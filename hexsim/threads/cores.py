"""The default number of threads, and work that is spread over the cores."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_MOST_THREADS = 4
"""A layer of a few dozen rows would leave more threads than that waiting (assumed; measured with
two)."""
_MANY = 16
"""Steps of work from which on it is worth starting threads (assumed)."""
_CGROUP = Path("/sys/fs/cgroup")
"""The folder in which a container finds its own limits."""


def default_threads() -> int:
    """Return one thread for each core that this process may use, and at most four."""
    return max(1, min(_allowed_cores(), _quota_cores(_CGROUP), _MOST_THREADS))


def spread(work: Callable[[slice], None], count: int, step: int) -> None:
    """Do `work` on all of `count`, `step` at a time, on all cores if there are many steps.

    `work` is numpy code that releases the interpreter lock.
    """
    parts = [slice(start, start + step) for start in range(0, count, step)]
    if len(parts) < _MANY:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(default_threads()) as pool:
        for _ in pool.map(work, parts):
            pass


def _allowed_cores() -> int:
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


def _quota_cores(cgroup: Path) -> int:
    """Return the cores' worth of time that a container may spend, rounded down.

    Threads beyond that number are stopped until the next period, on whichever core they run.
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
