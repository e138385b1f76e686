"""DDR as a shared rate, and the bytes that go through it.

`Ddr` shares its bandwidth max-min fairly among streams; each is capped by the bytes it keeps in
flight over the latency, or by the port of the engine it belongs to, whoever else is there. What
goes through it at all, because it is not in L2, is decided in `hexsim.simulation.residency`.

Left out: refresh and row misses (in the effective bandwidth), traffic of other masters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.timing.fluid import SharedRate, Sojourn, max_min
from hexsim.timing.simtime import PS_PER_SECOND, Environment, seconds_to_ps


@dataclass(frozen=True)
class Traffic:
    """Bytes read from and written to DDR.

    `reread_bytes` is what every further pass over the operands reads, for a kernel that makes
    several of them.
    """

    read_bytes: int = 0
    write_bytes: int = 0
    reread_bytes: int = 0

    def part(self, *, is_first: bool, is_last: bool) -> Traffic:
        """What one of several steps moves: the first one reads, the last one writes."""
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
    """Bandwidth left to the DSP, latency of one access, bytes one stream keeps in flight."""

    bytes_per_second: float
    latency_s: float
    bytes_in_flight: float

    @property
    def stream_bytes_per_second(self) -> float:
        """What one stream gets if nobody else wants anything; without latency, all of it."""
        if not self.latency_s:
            return self.bytes_per_second
        return min(self.bytes_per_second, self.bytes_in_flight / self.latency_s)


class Ddr(SharedRate[float]):
    """The path to DDR, which counts the bytes that went through it.

    A stream of the DSP is capped by what it keeps in flight; that of another master (the tensor
    engine) by the rate of its own port, in bytes per second, which it gives along.
    """

    def __init__(self, env: Environment, rule: DdrRule) -> None:
        super().__init__(env)
        self.rule = rule
        self.latency_ps = seconds_to_ps(rule.latency_s)
        self.moved = Traffic()

    def read(self, size: int, port_bytes_per_s: float | None = None) -> Sojourn[float]:
        """Ask for `size` bytes as one stream; succeeds when the last one leaves the memory.

        It arrives `latency_ps` later, while the stream may already go on with other bytes.
        """
        self.moved += Traffic(read_bytes=size)
        return self.use(size, port_bytes_per_s or self.rule.stream_bytes_per_second)

    def write(self, size: int, port_bytes_per_s: float | None = None) -> Sojourn[float]:
        """Write `size` bytes as one stream; nobody waits for the last one to arrive."""
        self.moved += Traffic(write_bytes=size)
        return self.use(size, port_bytes_per_s or self.rule.stream_bytes_per_second)

    def alone_ps(self, size: int) -> float:
        """How long a lone stream takes because of its bytes in flight.

        0 where it could use the whole bandwidth: then more bandwidth would make it faster.
        """
        stream = self.rule.stream_bytes_per_second
        return size * PS_PER_SECOND / stream if stream < self.rule.bytes_per_second else 0.0

    def _rates(self, demands: Sequence[float]) -> Sequence[float]:
        caps = [cap / PS_PER_SECOND for cap in demands]
        return max_min(self.rule.bytes_per_second / PS_PER_SECOND, caps)
