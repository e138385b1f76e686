"""DDR as a shared rate, and the bytes that go through it.

`Ddr` shares its bandwidth max-min fairly among streams. Each stream is limited by its bytes in
flight divided by the latency, or by the port of its engine. Which tensors go through DDR because
they are not in L2 is decided in `hexsim.simulation.residency`.

Left out: refresh and row misses (part of the effective bandwidth), traffic of other masters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hexsim.records import dataclass
from hexsim.timing.fluid import SharedRate, Sojourn, max_min
from hexsim.timing.picoseconds import PS_PER_SECOND, seconds_to_ps
from hexsim.timing.simtime import Environment

_LINE_BYTES = 128
"""A vector, and two lines of L2 that are fetched together."""


@dataclass(frozen=True)
class Traffic:
    """Bytes read from and written to DDR.

    `reread_bytes` are read by each further pass over the operands, in a kernel with several passes.
    """

    read_bytes: int = 0
    write_bytes: int = 0
    reread_bytes: int = 0

    def part(self, *, is_first: bool, is_last: bool) -> Traffic:
        """Return the traffic of one of several steps: the first reads, the last writes."""
        return Traffic(self.read_bytes if is_first else 0, self.write_bytes if is_last else 0)

    def reading(self, size: int) -> Traffic:
        """Return the traffic with `size` more bytes read once (parameters)."""
        return self + Traffic(size)

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.read_bytes + other.read_bytes,
            self.write_bytes + other.write_bytes,
            self.reread_bytes + other.reread_bytes,
        )


@dataclass(frozen=True)
class DdrRule:
    """Bandwidth available to the DSP, latency of one access, bytes in flight of one stream."""

    bytes_per_second: float
    latency_s: float
    bytes_in_flight: float

    @cached_property
    def stream_bytes_per_second(self) -> float:
        """The rate of a stream without competitors; the whole bandwidth if there is no latency."""
        return self.rate_of(1)

    def rate_of(self, streams: int) -> float:
        """The rate of several streams at the same time without competitors."""
        if not self.latency_s:
            return self.bytes_per_second
        return min(self.bytes_per_second, streams * self.bytes_in_flight / self.latency_s)

    @property
    def line_bytes_per_second(self) -> float:
        """The rate of a thread that waits for each line before it asks for the next one."""
        if not self.latency_s:
            return self.bytes_per_second
        return min(self.bytes_per_second, _LINE_BYTES / self.latency_s)


class Ddr(SharedRate[float]):
    """The path to DDR, which counts the bytes that went through it.

    A stream of the DSP is limited by its bytes in flight; that of another master (the tensor
    engine) by the rate of its port in bytes per second, which is an argument.
    """

    def __init__(self, env: Environment, rule: DdrRule) -> None:
        super().__init__(env)
        self.rule = rule
        self.latency_ps = seconds_to_ps(rule.latency_s)
        self._read_bytes = self._written_bytes = 0

    @property
    def moved(self) -> Traffic:
        """The bytes that went through it so far, or are asked for."""
        return Traffic(self._read_bytes, self._written_bytes)

    def read(self, size: int, port_bytes_per_s: float | None = None) -> Sojourn[float]:
        """Read `size` bytes as one stream; succeeds when the last byte leaves the memory.

        That byte arrives `latency_ps` later, while the stream may already read other bytes.
        """
        self._read_bytes += size
        return self.use(size, port_bytes_per_s or self.rule.stream_bytes_per_second)

    def write(self, size: int, port_bytes_per_s: float | None = None) -> Sojourn[float]:
        """Write `size` bytes as one stream; the arrival of the last byte is not waited for."""
        self._written_bytes += size
        return self.use(size, port_bytes_per_s or self.rule.stream_bytes_per_second)

    def alone_ps(self, size: int, port_bytes_per_s: float | None = None) -> float:
        """Return how long a stream takes alone if its bytes in flight or its port limit it.

        Otherwise 0: the bandwidth limits it, and more bandwidth would make it faster.
        """
        stream = port_bytes_per_s or self.rule.stream_bytes_per_second
        return size * PS_PER_SECOND / stream if stream < self.rule.bytes_per_second else 0.0

    def _rates(self, demands: Sequence[float]) -> Sequence[float]:
        caps = [cap / PS_PER_SECOND for cap in demands]
        return max_min(self.rule.bytes_per_second / PS_PER_SECOND, caps)
