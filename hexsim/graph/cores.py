"""How many threads share a layer, or read weights, if nobody says."""

from __future__ import annotations

import os
from pathlib import Path

_MOST_THREADS = 4
"""Layers of a few dozen rows leave more of them waiting (assumed; measured with two)."""
_CGROUP = Path("/sys/fs/cgroup")
"""Where a container finds its own limits."""


def default_threads() -> int:
    """One per core that this process may use, and at most four."""
    return max(1, min(_allowed_cores(), _paid_cores(_CGROUP), _MOST_THREADS))


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
