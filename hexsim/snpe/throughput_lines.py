"""The lines that snpe-throughput-net-run prints about several instances at once.

The time to tear a network down is left out, because it is not simulated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.studies.throughput import Instance, Throughput
from hexsim.timing.simtime import PS_PER_SECOND, PS_PER_US


@dataclass(frozen=True)
class Thread:
    """A thread: the name of its runtime, its time to build, and the items of a call."""

    runtime: str
    build_ps: int
    batch: int


def throughput_lines(throughput: Throughput, threads: Sequence[Thread]) -> str:
    """Return a line for each thread, and the total, which counts images as the threads do."""
    pairs = list(zip(throughput.instances, threads, strict=True))
    lines = [_line(number, instance, thread) for number, (instance, thread) in enumerate(pairs)]
    images = sum(_images(instance, thread) for instance, thread in pairs)
    rate = images * PS_PER_SECOND / throughput.total.elapsed_ps
    return "\n".join((*lines, f"Total throughput: {rate:.4f} infs/sec"))


def _line(number: int, instance: Instance, thread: Thread) -> str:
    images = _images(instance, thread)
    parts = (
        f"{images * PS_PER_SECOND / instance.pace.elapsed_ps:.4f} infs/sec",
        f"Number of images processed: {images}",
        f"Build time: {_us(thread.build_ps)} microseconds",
        f"Elapsed time: {_us(instance.pace.elapsed_ps)} microseconds",
        f"Real time: {_us(sum(instance.pace.latencies_ps))} microseconds",
        f"Batch : {thread.batch}",
    )
    return f"[Thread {number} - {thread.runtime}] {' - '.join(parts)}"


def _images(instance: Instance, thread: Thread) -> int:
    return instance.pace.inferences * thread.batch


def _us(ps: int) -> int:
    return (2 * ps + PS_PER_US) // (2 * PS_PER_US)
