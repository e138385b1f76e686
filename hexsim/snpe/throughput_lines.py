"""Several instances at once, in the lines that snpe-throughput-net-run prints.

Left out: the time to tear a network down, which is not simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.studies.throughput import Instance, Throughput
from hexsim.timing.simtime import PS_PER_SECOND, PS_PER_US


@dataclass(frozen=True)
class Thread:
    """What one thread has: the name of its runtime, its time to build, the items of a call."""

    runtime: str
    build_ps: int
    batch: int


def throughput_lines(found: Throughput, threads: Sequence[Thread]) -> str:
    """Return a line for each thread, and the total, which counts images as the threads do."""
    pairs = list(zip(found.instances, threads, strict=True))
    lines = [_line(number, one, thread) for number, (one, thread) in enumerate(pairs)]
    images = sum(_images(one, thread) for one, thread in pairs)
    rate = images * PS_PER_SECOND / found.total.elapsed_ps
    return "\n".join((*lines, f"Total throughput: {rate:.4f} infs/sec"))


def _line(number: int, one: Instance, thread: Thread) -> str:
    images = _images(one, thread)
    parts = (
        f"{images * PS_PER_SECOND / one.pace.elapsed_ps:.4f} infs/sec",
        f"Number of images processed: {images}",
        f"Build time: {_us(thread.build_ps)} microseconds",
        f"Elapsed time: {_us(one.pace.elapsed_ps)} microseconds",
        f"Real time: {_us(sum(one.pace.latencies_ps))} microseconds",
        f"Batch : {thread.batch}",
    )
    return f"[Thread {number} - {thread.runtime}] {' - '.join(parts)}"


def _images(one: Instance, thread: Thread) -> int:
    return one.pace.inferences * thread.batch


def _us(ps: int) -> int:
    return (2 * ps + PS_PER_US) // (2 * PS_PER_US)
