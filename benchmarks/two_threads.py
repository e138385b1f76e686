"""How much faster two threads are than one, on cores that are near each other and far apart.

python -m benchmarks.two_threads [--networks mobilenet_v2 …] [--rounds 100] [--models FOLDER]
    [--write]

The host of a virtual machine moves its cores about. Where two have a cache in common, a line of
memory goes to and fro between them in some 50 ns; where they have none, it takes six times as long.
So before and after each round it is measured how long that takes, and rounds in which it changed do
not count. Between rounds nothing runs for a while, because only then do cores move.

Printed is the time of an inference on one thread over that on two: 25 % median 75 %. Nothing else
may run meanwhile. `--write` puts the table into docs/results/int8-kernels.md.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.int8_against_onnxruntime import (
    INPUTS,
    NETWORKS,
    Run,
    executor,
    ours,
    shapes_of,
)
from benchmarks.pages import RESULTS, with_block
from hexsim.inputs.seeded import seeded_inputs
from hexsim.int8.machine_code.addresses import add_and_fetch_old, read_shared
from hexsim.int8.machine_code.arguments import aligned
from hexsim.int8.machine_code.jit import kernel

NEAR_NS, FAR_NS = 120, 200
"""A round trip of a line takes less between near cores, and more between far ones."""
_TRIPS = 20_000
_WARM, _COUNTED, _PAUSE = 0.04, 0.04, 0.15
"""Seconds of inferences that do not count, of those that do, and between rounds. A helper may be
woken on the core of who wakes it, where Linux leaves it for up to 15 ms (seen)."""


class Round(NamedTuple):
    """Nanoseconds of a round trip before and after, and one thread's time over that of two."""

    before_ns: float
    after_ns: float
    ratio: float


@kernel("void(int64[::1],int64,int64)")
def _return(ball: np.ndarray, first: int, times: int) -> None:
    """Wait for the number `first`, and for every second one after it, and add one to each."""
    at = ball.ctypes.data
    for trip in range(times):
        while read_shared(at) != first + 2 * trip:
            pass
        add_and_fetch_old(at, 1)


def round_trip_ns() -> float:
    """How long a line of memory takes from one core to another and back."""
    ball = aligned(64).view(np.int64)
    ball[:] = 0
    other = threading.Thread(target=_return, args=(ball, 1, 2 * _TRIPS))
    other.start()
    _return(ball, 0, _TRIPS)  # until it has a core of its own
    start = time.perf_counter_ns()
    _return(ball, 2 * _TRIPS, _TRIPS)
    taken = time.perf_counter_ns() - start
    other.join()
    return taken / _TRIPS


def rounds_of(network: str, rounds: int, folder: Path) -> list[Round]:
    """Measure so many rounds of a network with one scale per tensor."""
    feeds = list(seeded_inputs(shapes_of(network, folder), INPUTS))
    model = ours(network, "tensor", folder, feeds)
    single, two = (executor(model, "tensor", threads, feeds[0]) for threads in (1, 2))
    measured = []
    for _ in range(rounds):
        before, with_two, after = round_trip_ns(), _seconds(two), round_trip_ns()
        measured.append(Round(before, after, _seconds(single) / with_two))
        time.sleep(_PAUSE)
    return measured


def _seconds(run: Run) -> float:
    """The median of inferences, once helpers are where they stay."""
    warm = time.perf_counter() + _WARM
    end = warm + _COUNTED
    times: list[float] = []
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        if start > warm:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def cell(rounds: list[Round]) -> str:
    """The quartiles of the ratios, and of how many rounds."""
    if not rounds:
        return "-"
    quartiles = np.quantile([timed_round.ratio for timed_round in rounds], [0.25, 0.5, 0.75])
    return "{:.2f} **{:.2f}** {:.2f} ({})".format(*quartiles, len(rounds))


HEAD = """\
| network | near cores (rounds) | far cores |
| --- | --- | --- |"""


def row(network: str, rounds: list[Round]) -> str:
    """A row of a Markdown table: near cores, then far ones."""
    near = [
        timed_round
        for timed_round in rounds
        if max(timed_round.before_ns, timed_round.after_ns) < NEAR_NS
    ]
    far = [
        timed_round
        for timed_round in rounds
        if min(timed_round.before_ns, timed_round.after_ns) > FAR_NS
    ]
    return f"| {network} | {cell(near)} | {cell(far)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Two threads over one.")
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    table = [HEAD]
    print(HEAD)
    with tempfile.TemporaryDirectory() as name:
        folder = given.models or Path(name)
        for network in given.networks:
            table.append(row(network, rounds_of(network, given.rounds, folder)))
            print(table[-1], flush=True)
    if given.write:
        page = RESULTS / "int8-kernels.md"
        page.write_text(
            with_block(page.read_text("utf-8"), "two threads", "\n".join(table)), "utf-8"
        )


if __name__ == "__main__":
    main()
