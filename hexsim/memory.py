"""DDR as a shared rate, and which activations stay in L2.

`Ddr` shares its bandwidth max-min fairly among streams; each is capped by the bytes it keeps in
flight over the latency, whoever else is there. `l2_traffic` decides, before time starts, which
activations of a subnet stay in L2 between the layer that writes them and the layers that read
them: a cache of whole tensors, the least recently used leaving first. Weights pass through L2 in
slices and take a share of it; no network of interest fits, so they come from DDR every time.

Left out: bank conflicts, refresh, row misses (all in the effective bandwidth); a tensor that is
half in L2; traffic of other masters.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hexsim.fluid import SharedRate, Use, max_min
from hexsim.plan import PlannedSubnet
from hexsim.simtime import PS_PER_SECOND, Environment


@dataclass(frozen=True)
class DdrRule:
    """Bandwidth left to the DSP, latency of one access, bytes one stream keeps in flight."""

    bytes_per_second: float
    latency_s: float
    bytes_in_flight: float


class Ddr(SharedRate[float]):
    """The path to DDR; a stream of the DSP has a cap, another master brings its own."""

    def __init__(self, env: Environment, rule: DdrRule) -> None:
        super().__init__(env)
        self._capacity = rule.bytes_per_second / PS_PER_SECOND
        self._stream = min(self._capacity, rule.bytes_in_flight / rule.latency_s / PS_PER_SECOND)

    @property
    def latency_bound(self) -> bool:
        """True if one stream cannot use the whole bandwidth."""
        return self._stream < self._capacity

    def transfer(self, size: int, port_bytes_per_s: float | None = None) -> Use[float]:
        """Move `size` bytes as one stream; succeeds when the last one has arrived.

        The stream is one of the DSP's unless the rate of another master's port is given.
        """
        cap = self._stream if port_bytes_per_s is None else port_bytes_per_s / PS_PER_SECOND
        return self.use(size, cap)

    def _rates(self, demands: Sequence[float]) -> Sequence[float]:
        return max_min(self._capacity, demands)


@dataclass(frozen=True)
class Traffic:
    """Bytes of one layer that miss L2: read from and written to DDR."""

    read_bytes: int = 0
    write_bytes: int = 0

    def part(self, *, is_first: bool, is_last: bool) -> Traffic:
        """What one of several passes moves: the first one reads, the last one writes."""
        return Traffic(self.read_bytes if is_first else 0, self.write_bytes if is_last else 0)

    def reading(self, size: int) -> Traffic:
        """Return the traffic with `size` more bytes read (parameters)."""
        return Traffic(self.read_bytes + size, self.write_bytes)


class _TensorCache:
    """Whole tensors in L2, least recently used first; counts what is written back."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held: OrderedDict[str, int] = OrderedDict()
        self._dirty: set[str] = set()

    def read(self, name: str, size: int) -> Traffic:
        """Use a tensor: free if held, else it comes from DDR and is held if it fits."""
        if name in self._held:
            self._held.move_to_end(name)
            return Traffic()
        return Traffic(size, self._hold(name, size))

    def write(self, name: str, size: int) -> Traffic:
        """Make a tensor: it stays here unless it is too large."""
        if size > self._capacity:
            return Traffic(0, size)
        pushed_out = self._hold(name, size)
        self._dirty.add(name)
        return Traffic(0, pushed_out)

    def drop(self, name: str) -> None:
        """Forget a tensor that nobody needs again."""
        self._held.pop(name, None)

    def _hold(self, name: str, size: int) -> int:
        """Keep a tensor; return the bytes of changed tensors that leave for it."""
        if size > self._capacity:
            return 0
        pushed_out = 0
        while self._held and sum(self._held.values()) + size > self._capacity:
            victim, victim_size = self._held.popitem(last=False)
            if victim in self._dirty:
                self._dirty.remove(victim)
                pushed_out += victim_size
        self._held[name] = size
        return pushed_out


def l2_traffic(subnet: PlannedSubnet, l2_bytes: int, sizes: Mapping[str, int]) -> list[Traffic]:
    """Return the DDR traffic of each call of `subnet`, in order.

    `l2_bytes` is what activations may occupy; `sizes` gives the stored bytes of every tensor and
    operand by name. The subnet's inputs start in L2 if they fit, because the conversion has just
    written them; its outputs stay there for the conversion that follows.
    """
    cache = _TensorCache(l2_bytes)
    for name in subnet.inputs:
        cache.write(name, sizes[name])
    last_use = {name: i for i, layer in enumerate(subnet.layers) for name in layer.inputs}
    result = []
    for index, layer in enumerate(subnet.layers):
        moves = [cache.read(name, sizes[name]) for name in layer.inputs]
        moves += [cache.write(name, sizes[name]) for name in layer.outputs]
        for name in layer.inputs:
            if last_use[name] == index and name not in subnet.outputs:
                cache.drop(name)
        result.append(
            Traffic(sum(move.read_bytes for move in moves), sum(move.write_bytes for move in moves))
        )
    return result
