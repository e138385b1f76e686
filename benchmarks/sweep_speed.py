"""Points of a sweep per second: in one process, and by workers of one and two processes in turns.

python -m benchmarks.sweep_speed [--seconds 4] [--rounds 3] [--workers 1 2] [--network mobilenet_v2]

A turn simulates about so many seconds of points that nobody has simulated before. Workers are
started once, and their first turn does not count. Beside the workers stand as many processes that
have nothing to do with each other: what they reach together is what the machine has to give, and
what workers lose against that is the engine's share. The split says what of a point's time goes on
stating the platform anew; the rest is simulating, and the row.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from multiprocessing.pool import Pool
from pathlib import Path

from hexsim.studies.cluster import workers
from hexsim.studies.sweep import engine
from hexsim.studies.sweep.evaluation import row
from hexsim.studies.sweep.parts import Parts, part_points
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import Setting, settings
from hexsim.studies.sweep.space import Space, Variation

Turn = Callable[[Points], object]
"""Simulates all points."""


def space(network: str, points: int, seed: int = 0) -> Space:
    """Two constants drawn, so that no two points are alike."""
    return Space(
        networks=(network,),
        constants={
            "memory.efficiency": Variation(drawn=True),
            "memory.latency_bus_share": Variation(drawn=True),
        },
        draws=points,
        seed=seed,
    )


def seconds(of: Callable[[], object]) -> float:
    """What a call takes."""
    began = time.perf_counter()
    of()
    return time.perf_counter() - began


def rows(points: Points) -> None:
    """Simulate all points here."""
    for point in points:
        row(point, 1)


def by_workers(stack: ExitStack, number: int) -> Turn:
    """Workers who stay."""
    client = stack.enter_context(workers(None, number))

    def turn(points: Points) -> None:
        with tempfile.TemporaryDirectory() as folder:
            parts = Parts(Path(folder) / "parts", points)
            parts.open()
            engine.simulate_parts(client, points, parts, lambda done: None)

    return turn


def by_processes(pool: Pool, number: int) -> Turn:
    """Processes that know nothing of each other, each with its share of the points."""

    def turn(points: Points) -> None:
        share = -(-len(points) // number)
        pool.map(rows, [_drawn(points, share, at) for at in range(number)], chunksize=1)

    return turn


def _drawn(points: Points, number: int, seed: int) -> Points:
    """Other points of the same settings."""
    found = points.space.model_copy(update={"draws": number, "seed": points.space.seed + seed})
    return Points(found, points.settings)


def arms(stack: ExitStack, numbers: list[int]) -> Iterator[tuple[str, int, Turn]]:
    """What takes turns: its name, of how many processes it is, and how it simulates."""
    yield "here", 1, rows
    pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(max(numbers)))
    for number in numbers:
        yield f"{number} apart", number, by_processes(pool, number)
        yield f"{number} workers", number, by_workers(stack, number)


def measured(
    ready: list[Setting], network: str, given: argparse.Namespace
) -> dict[str, list[float]]:
    """Points per second of each arm, turn by turn."""
    seeds = count()
    rate = 16 / seconds(lambda: rows(Points(space(network, 16, next(seeds)), ready)))
    found: dict[str, list[float]] = {}
    with ExitStack() as stack:
        ways = list(arms(stack, given.workers))
        for warm in (True, *[False] * given.rounds):
            for name, number, turn in ways:
                wanted = rate * number * (1 if warm else given.seconds)
                whole = part_points(1) * number  # all processes have as many whole parts
                size = -(-int(wanted) // whole) * whole
                points = Points(space(network, size, next(seeds)), ready)
                took = seconds(partial(turn, points))
                if not warm:
                    found.setdefault(name, []).append(size / took)
    return found


def main() -> None:
    """Print points per second, and the split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--network", default="mobilenet_v2")
    given = parser.parse_args()
    asked = space(given.network, 64)
    points = Points(asked, settings(asked))
    rows(points)
    alone = seconds(lambda: rows(points))
    stating = seconds(lambda: [one.setting.platform_with(one.constants) for one in points])
    print(f"stating platforms anew: {stating / alone:.1%} of a point")
    found = measured(list(points.settings), given.network, given)
    for name, series in found.items():
        shown = ", ".join(f"{one:.1f}" for one in series)
        print(f"{name}: {statistics.median(series):.1f} points/s ({shown})")
    for number in given.workers[1:]:
        for what in ("apart", "workers"):
            first, other = found[f"{given.workers[0]} {what}"], found[f"{number} {what}"]
            ratios = [b / a for a, b in zip(first, other, strict=True)]
            print(f"{number} {what} over {given.workers[0]}: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
