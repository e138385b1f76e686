"""The lines that snpe-throughput-net-run prints about several instances at once.

The time to tear a network down is left out, because it is not simulated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.results.throughput import Thread as Caller
from hexsim.results.throughput import Throughput
from hexsim.timing.simtime import PS_PER_US


@dataclass(frozen=True)
class Thread:
    """A thread: the name of its runtime, its time to build, and the items of a call."""

    runtime: str
    build_ps: int
    batch: int


def throughput_lines(throughput: Throughput, threads: Sequence[Thread]) -> str:
    """Return a line for each thread, and the total, which counts images as the threads do."""
    pairs = list(zip(throughput.threads, threads, strict=True))
    lines = [_line(number, instance, thread) for number, (instance, thread) in enumerate(pairs)]
    images = sum(_images(instance, thread) for instance, thread in pairs)
    rate = images * 1e6 / throughput.total.elapsed_us
    return "\n".join((*lines, f"Total throughput: {rate:.4f} infs/sec"))


def _line(number: int, calls: Caller, thread: Thread) -> str:
    images = _images(calls, thread)
    parts = (
        f"{images * 1e6 / calls.elapsed_us:.4f} infs/sec",
        f"Number of images processed: {images}",
        f"Build time: {_rounded(thread.build_ps / PS_PER_US)} microseconds",
        f"Elapsed time: {_rounded(calls.elapsed_us)} microseconds",
        f"Real time: {_rounded(sum(calls.latencies_us))} microseconds",
        f"Batch : {thread.batch}",
    )
    return f"[Thread {number} - {thread.runtime}] {' - '.join(parts)}"


def _images(calls: Caller, thread: Thread) -> int:
    return calls.inferences * thread.batch


def _rounded(us: float) -> int:
    return math.floor(us + 0.5)
