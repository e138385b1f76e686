"""Points of a sweep per second: in one process, and by one and two workers in turns.

python -m benchmarks.sweep_speed [--points 256] [--rounds 3] [--network mobilenet_v2]

The split says where the time of a point goes: restating the platform, simulating, and the rest,
which is the row. What a worker loses against one process is the engine's share.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hexsim.studies.cluster import workers
from hexsim.studies.sweep import engine
from hexsim.studies.sweep.evaluation import row
from hexsim.studies.sweep.parts import Parts
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space, Variation


def space(network: str, points: int) -> Space:
    """Two constants drawn, so that no two points are alike."""
    return Space(
        networks=(network,),
        constants={
            "memory.efficiency": Variation(drawn=True),
            "memory.latency_bus_share": Variation(drawn=True),
        },
        draws=points,
    )


def seconds(of: Callable[[], object]) -> float:
    """What a call takes."""
    began = time.perf_counter()
    of()
    return time.perf_counter() - began


def by_workers(points: Points, count: int) -> float:
    """Seconds that workers take who are already there."""
    with tempfile.TemporaryDirectory() as folder, workers(None, count) as client:
        warm = Parts(Path(folder) / "warm", Points(points.space, points.settings))
        warm.open()
        engine.simulate_parts(client, points, warm, lambda done: None)
        parts = Parts(Path(folder) / "parts", points)
        parts.open()
        return seconds(lambda: engine.simulate_parts(client, points, parts, lambda done: None))


def main() -> None:
    """Print points per second, and the split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--network", default="mobilenet_v2")
    given = parser.parse_args()
    asked = space(given.network, given.points)
    points = Points(asked, settings(asked))
    row(points[0], 1)
    alone: list[float] = []
    by_count: dict[int, list[float]] = {1: [], 2: []}
    restating = 0.0
    for _ in range(given.rounds):
        alone.append(seconds(lambda: [row(one, 1) for one in points]))
        restating = seconds(lambda: [one.setting.platform_with(one.constants) for one in points])
        for count, series in by_count.items():
            series.append(by_workers(points, count))
    rates = {
        "one process": alone,
        **{f"{count} worker{'s' * (count > 1)}": series for count, series in by_count.items()},
    }
    for what, series in rates.items():
        shown = ", ".join(f"{given.points / one:.1f}" for one in series)
        print(f"{what}: {given.points / statistics.median(series):.1f} points/s ({shown})")
    two, one = (statistics.median(by_count[count]) for count in (2, 1))
    print(f"two workers over one: {one / two:.2f}")
    print(f"restating platforms: {restating / statistics.median(alone):.1%} of one process")


if __name__ == "__main__":
    main()
