"""Points of a sweep per second: in one process, and by workers of one and two processes in turns.

python -m benchmarks.sweep_speed [--seconds 4] [--rounds 5] [--workers 1 2] [--network mobilenet_v2]
                                 [--write]

A turn simulates about so many seconds of points that nobody has simulated before. Workers are
started once, and their first turn does not count. Beside the workers stand as many processes that
have nothing to do with each other: what they reach together is what the machine has to give, and
what workers lose against that is the engine's share. The split says what the processor time of a
point goes on. With --write the page docs/scale.md has what was found.
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

from msgspec import structs

from benchmarks.pages import DOCS, with_block
from hexsim.files.atomic_write import write_text
from hexsim.simulation.simulator import Workload
from hexsim.studies.processes import processes
from hexsim.studies.sweep.points import Points, row
from hexsim.studies.sweep.settings import Setting, settings
from hexsim.studies.sweep.space import Space, Variation
from hexsim.studies.sweep.table import SweepParts, part_points, simulate_parts

PAGE = DOCS / "scale.md"
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


def seconds(of: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """What a call takes."""
    began = clock()
    of()
    return clock() - began


def split(points: Points) -> dict[str, float]:
    """Parts of a point's processor time, 0 .. 1, by what they go on."""
    all_points = list(points)
    platforms = [all_point.setting.platform_with(all_point.constants) for all_point in all_points]
    pairs = list(
        zip(platforms, (all_point.setting.subject for all_point in all_points), strict=True)
    )
    results = [platform.simulate(Workload.single(plan)) for platform, plan in pairs]
    whole, *parts = (
        seconds(of, time.process_time)
        for of in (
            lambda: rows(points),
            lambda: [
                all_point.setting.platform_with(all_point.constants) for all_point in all_points
            ],
            lambda: [platform.simulate(Workload.single(plan)) for platform, plan in pairs],
            lambda: [p.energy(r, None) for p, r in zip(platforms, results, strict=True)],
        )
    )
    names = ("stating the platform anew", "simulating", "energy")
    shares = {name: part / whole for name, part in zip(names, parts, strict=True)}
    return {**shares, "memory, area and the row": max(0.0, 1 - sum(shares.values()))}


def rows(points: Points) -> None:
    """Simulate all points here."""
    for number in range(len(points)):
        row(points[number], 1)


def by_workers(stack: ExitStack, number: int) -> Turn:
    """Workers who stay."""
    pool = stack.enter_context(processes(number))

    def turn(points: Points) -> None:
        with tempfile.TemporaryDirectory() as folder:
            parts = SweepParts(Path(folder) / "parts", points)
            parts.open()
            simulate_parts(pool, parts)

    return turn


def by_processes(pool: Pool, number: int) -> Turn:
    """Processes that know nothing of each other, each with its share of the points."""

    def turn(points: Points) -> None:
        share = -(-len(points) // number)
        pool.map(rows, [_drawn(points, share, at) for at in range(number)], chunksize=1)

    return turn


def _drawn(points: Points, number: int, seed: int) -> Points:
    """Other points of the same settings."""
    drawn = structs.replace(points.space, draws=number, seed=points.space.seed + seed)
    return Points(drawn, points.settings)


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
    rates: dict[str, list[float]] = {}
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
                    rates.setdefault(name, []).append(size / took)
    return rates


def rates_table(rates: dict[str, list[float]], parts: dict[str, float], numbers: list[int]) -> str:
    """Rates, what more workers make of them turn by turn, and the split."""
    first, *more = numbers
    lines = ["| who | points per second | turn by turn |", "|---|---|---|"]
    for name, series in rates.items():
        shown = ", ".join(f"{rate:.0f}" for rate in series)
        lines.append(f"| {name} | {statistics.median(series):.0f} | {shown} |")
    lines.append("")
    for number in more:
        phrases = []
        for what in ("workers", "apart"):
            alone, other = rates[f"{first} {what}"], rates[f"{number} {what}"]
            ratios = [b / a for a, b in zip(alone, other, strict=True)]
            phrases.append(f"{statistics.median(ratios):.2f} times {first} {what}")
        lines.append(f"{number} workers are {phrases[0]}; {number} apart are {phrases[1]}.")
    phrases = [f"{part:.0%} {name}" for name, part in parts.items()]
    lines.append(f"A point's processor time: {', '.join(phrases)}.")
    return "\n".join(lines)


def main() -> None:
    """Print points per second and the split, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--network", default="mobilenet_v2")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    asked = space(given.network, 64)
    points = Points(asked, settings(asked))
    rows(points)
    parts = split(points)
    rates = measured(list(points.settings), given.network, given)
    lines = rates_table(rates, parts, given.workers)
    if given.write:
        write_text(PAGE, with_block(PAGE.read_text(encoding="utf-8"), "rates", lines))
    else:
        print(lines)


if __name__ == "__main__":
    main()
