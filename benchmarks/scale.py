"""What a point of a sweep and a picture of a validation cost, and what a million of them take.

python -m benchmarks.scale [--points 512] [--pictures 64] [--sleepers 256] [--write]

Costs are measured on one worker of one thread; from them follows what more workers take
(`benchmarks.scale_plan`). The engine's own cost is measured by parts that do nothing, and by many
workers that sleep as long as a part would take. A network between machines is not measured.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.int8_against_onnxruntime import (
    WEIGHTS,
    executor,
    ours,
    shapes_of,
    take_turns,
    theirs,
)
from benchmarks.pages import DOCS, with_blocks
from benchmarks.scale_plan import Cost, measured_table, per_core_table, planned_table
from benchmarks.sweep_speed import space
from hexsim.accuracy.validation import Observer, Totals, counted
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.platform import Platform
from hexsim.files.atomic_write import write_text
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.source import InputSource, listed
from hexsim.inputs.stored import stored_inputs
from hexsim.studies.cluster import Cluster
from hexsim.studies.pool import Pool, ranges
from hexsim.studies.processes import Processes, processes
from hexsim.studies.sweep import table as sweep_parts
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.table import SweepParts, as_bytes, part_points
from hexsim.studies.validation import part_size, validate_sharded

if TYPE_CHECKING:
    import pyarrow

PAGE = DOCS / "scale.md"
NETWORK = "mobilenet_v2"
WORKERS = 256
"""The most that the page plans with."""
_PARTS = 512
"""Parts that are joined to see what one costs."""
_EACH = 4
"""Parts of each sleeper."""


@dataclass(frozen=True)
class Worker:
    """What one worker took until its first thing was done, and then for each; its memory."""

    start_s: float
    seconds: float
    peak_bytes: int


def one_worker(run: Callable[[Pool, int], object], count: int) -> Worker:
    """Let a new worker do one thing, and then few and many, which tells what one more costs."""
    began = time.perf_counter()
    with processes(1) as pool:
        run(pool, 1)
        started = time.perf_counter() - began
        few, many = (seconds(partial(run, pool, things)) for things in (count // 4, count))
        held = _peak_bytes(pool)
    return Worker(started, (many - few) / (count - count // 4), held)


def _peak_bytes(pool: Processes) -> int:
    """The most memory that the only worker of a pool has held."""
    (peak,) = dict(pool.in_parts(_own_peak, None, ranges(1, 1), "things")).values()
    return peak


def _own_peak(shared: None, first: int, stop: int) -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def point_cost(count: int) -> Cost:
    """Of drawn designs of sd855's DSP."""
    asked = space(NETWORK, count)
    points = Points(asked, settings(asked))
    table = sweep_parts.evaluate(points, 0, count)

    def run(pool: Pool, things: int) -> None:
        pieces = ranges(things, part_points(things))
        for _ in pool.in_parts(sweep_parts.evaluate, points, pieces, "points"):
            pass

    keeping_s, joining_s = parts_cost(points, table)
    worker = one_worker(run, count)
    return Cost(
        "point",
        worker.seconds,
        worker.start_s,
        parts=lambda things: -(-things // part_points(things)),
        shared_bytes=sent(points),
        result_bytes=sent(table) / count,
        file_bytes=len(as_bytes([table], asked, "")) / count,
        worker_bytes=worker.peak_bytes,
        keeping_s=keeping_s,
        joining_s=joining_s,
    )


def parts_cost(points: Points, table: pyarrow.Table) -> tuple[float, float]:
    """Seconds to keep a part, and to join it in the end; many parts, whose rows are alike."""
    many = Points(space(NETWORK, _PARTS * part_points(1)), points.settings)
    with tempfile.TemporaryDirectory() as folder:
        kept = SweepParts(Path(folder) / "parts", many)
        kept.open()
        rows = table.slice(0, part_points(1))

        def keep() -> None:
            for part in kept.missing():
                kept.add(part, rows)

        return seconds(keep) / _PARTS, seconds(kept.whole) / _PARTS


def picture_cost(count: int, folder: Path) -> Cost:
    """Of pictures in raw files, by float and DSP, with the error of every layer."""
    deployment = quantised(folder)
    source = pictures(count, deployment, folder)

    def run(pool: Pool, things: int) -> None:
        validate_sharded(pool, deployment, pictures(things, deployment, folder))

    worker = one_worker(run, count)
    observer = Observer(deployment, source.batch, None, 1)
    size = part_size(50_000, WORKERS)
    observed = observer.observe(counted(source.feeds(0, size), source.batch, size, None))
    return Cost(
        "picture",
        worker.seconds,
        worker.start_s,
        parts=lambda things: -(-things // part_size(things, WORKERS)),
        shared_bytes=sent(Observer(deployment, source.batch, None, 1)),
        result_bytes=sent(observed) / size,
        file_bytes=0.0,
        worker_bytes=worker.peak_bytes,
        keeping_s=seconds(partial(Totals(observer.paired).take, observed)),
        joining_s=0.0,
    )


def quantised(folder: Path) -> Deployment:
    """The network with a scale per tensor on a DSP that takes it as it is."""
    feeds = list(seeded_inputs(shapes_of(NETWORK, folder), 8))
    model = ours(NETWORK, "tensor", folder, feeds)
    return deploy(model, Platform.load(WEIGHTS["tensor"][1]), "dsp")


def pictures(count: int, deployment: Deployment, folder: Path) -> InputSource:
    """So many lines of a list, which name a few files again and again."""
    network = deployment.model.network
    files = []
    for number, feed in enumerate(seeded_inputs(shapes_of(NETWORK, folder), 8)):
        (array,) = stored_inputs(network, feed).values()
        files.append(folder / f"{number}.raw")
        array.astype(np.float32).tofile(files[-1])
    path = folder / "pictures.txt"
    path.write_text("".join(f"{files[at % len(files)]}\n" for at in range(count)))
    return listed(path, network)


def values_s(folder: Path) -> dict[str, float]:
    """Seconds for the values of a picture on one thread: ours, and onnxruntime's, in turns."""
    feeds = list(seeded_inputs(shapes_of(NETWORK, folder), 8))
    runs = {
        "values of the DSP alone": executor(
            ours(NETWORK, "tensor", folder, feeds), "tensor", 1, feeds[0]
        ),
        "onnxruntime, int8": theirs(NETWORK, "u8s8", "tensor", 1, folder, feeds),
        "onnxruntime, float": theirs(NETWORK, "float32", "tensor", 1, folder, feeds),
    }
    times = take_turns(runs, 31, time.thread_time)
    return {name: float(np.median(series)) for name, series in times.items()}


def engine_rate(parts: int) -> float:
    """Parts that do nothing, per second."""
    with processes(2) as pool:
        for count in (16, parts):
            took = seconds(partial(_drain, pool, _nothing, None, count))
    return parts / took


def asleep(number: int, part_s: float) -> float:
    """The share of their time that so many workers sleep, if a part has them sleep so long."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=number // 32, threads_per_worker=32, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        pool = Cluster(client)
        _drain(pool, _nothing, part_s, number)
        took = seconds(lambda: _drain(pool, _sleep, part_s, _EACH * number))
        return _EACH * part_s / took


def _drain(pool: Pool, work: Callable[[Any, int, int], None], shared: Any, parts: int) -> None:
    for _ in pool.in_parts(work, shared, ranges(parts, 1), "parts"):
        pass


def _nothing(shared: object, first: int, stop: int) -> None:
    """A part without work."""


def _sleep(part_s: float, first: int, stop: int) -> None:
    time.sleep(part_s)


def sent(what: object) -> int:
    """Bytes of something as it goes to another process."""
    from distributed.protocol.pickle import dumps

    apart: list[Any] = []
    message = dumps(what, buffer_callback=apart.append)
    return len(message) + sum(buffer.raw().nbytes for buffer in apart)


def seconds(of: Callable[[], object]) -> float:
    """Elapsed time."""
    began = time.perf_counter()
    of()
    return time.perf_counter() - began


def main() -> None:
    """Measure all, and print it or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=512)
    parser.add_argument("--pictures", type=int, default=64)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        point, picture = point_cost(given.points), picture_cost(given.pictures, folder)
        alone = values_s(folder)
    rate = engine_rate(2000)
    part_s = picture.seconds * part_size(50_000, WORKERS)
    share = asleep(WORKERS, part_s)
    blocks = {
        "measured": measured_table([point, picture]),
        "per-core": per_core_table({"hexsim validate, complete": picture.seconds, **alone}),
        "engine": (
            f"{rate:.0f} empty parts per second passed through the scheduler.\n"
            f"{WORKERS} workers slept for the time of 32 pictures ({part_s:.1f} s) in each part:\n"
            f"they were busy in this way for {share:.0%} of the time."
        ),
        "planned": planned_table([(point, 1_000_000), (picture, 50_000)], rate),
    }
    if given.write:
        write_text(PAGE, with_blocks(PAGE.read_text(encoding="utf-8"), blocks))
    else:
        print("\n\n".join(blocks.values()))


if __name__ == "__main__":
    main()
