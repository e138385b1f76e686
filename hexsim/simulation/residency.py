"""Which activations stay in L2, and what has to move to and from DDR because the others do not.

Decided before time starts, by walking a subnet in the order of its calls. L2 holds tensors in
part: a tensor of which half is there costs half. Room is made by the tensor that was not used for
longest, byte by byte. Changed bytes that leave are written back. A tensor that nobody reads again
is forgotten without writing: Hexagon NN puts the next tensors into its buffer.

A tensor that is larger than L2 pushes out its own head while its tail is written, and the rest of
it while the head is read again: nothing of it is ever found, and what else was there stays, as if
such a tensor streamed past. The 1x1 convolution of one channel over 256x256 pixels in
measured_latency.csv, whose 2 MB of d32 cost the way to DDR and back, says so too.

Weights pass through L2 in slices and are never kept: no network of interest fits, so they come
from DDR every time. While a layer runs, its weights take their share of L2 from the activations.

Which lines really leave is up to a replacement policy that nobody published.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hexsim.planning.plan import PlannedSubnet
from hexsim.timing.memory import Traffic


@dataclass(frozen=True)
class SubnetTraffic:
    """What goes through DDR: for each input on its way into d32, each call, each output."""

    inputs: tuple[Traffic, ...]
    calls: tuple[Traffic, ...]
    outputs: tuple[Traffic, ...]


@dataclass
class _Held:
    """Bytes of one tensor in L2, and how many of them DDR does not have."""

    size: int = 0
    dirty: int = 0


class _ActivationCache:
    """Tensors in L2 by bytes, least recently used first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._free = capacity
        self._held: OrderedDict[str, _Held] = OrderedDict()

    def limit(self, capacity: int) -> int:
        """Change what fits; return the bytes that are written back because less does."""
        self._free += capacity - self._capacity
        self._capacity = capacity
        return self._make_room(0)

    def read(self, name: str, size: int) -> Traffic:
        """Use a tensor: what is not held comes from DDR and is held as far as it fits."""
        missing = self.missing(name, size)
        if size > self._capacity:
            return Traffic(missing, 0, size)
        written_back = self._grow(self._use(name), missing)
        return Traffic(missing, written_back, self.missing(name, size))

    def write(self, name: str, size: int) -> Traffic:
        """Make a tensor: what does not fit goes to DDR."""
        if size > self._capacity:
            return Traffic(0, size)
        held = self._use(name)
        written_back = self._grow(held, size)
        held.dirty = held.size
        return Traffic(0, written_back + size - held.size)

    def missing(self, name: str, size: int) -> int:
        """Bytes of a tensor that are not here."""
        return size - (self._held[name].size if name in self._held else 0)

    def drop(self, name: str) -> None:
        """Forget a tensor that nobody needs again."""
        if name in self._held:
            self._free += self._held.pop(name).size

    def _use(self, name: str) -> _Held:
        held = self._held.setdefault(name, _Held())
        self._held.move_to_end(name)
        return held

    def _grow(self, held: _Held, wanted: int) -> int:
        """Hold up to `wanted` more bytes of a tensor; return the bytes that are written back."""
        written_back = self._make_room(wanted, held)
        taken = min(wanted, self._free)
        held.size += taken
        self._free -= taken
        return written_back

    def _make_room(self, wanted: int, spared: _Held | None = None) -> int:
        """Let others leave until `wanted` bytes are free; return what is written back."""
        written_back = 0
        for other in self._held.values():
            lacking = wanted - self._free
            if other is spared or lacking <= 0:
                break  # the tensor in use is the last one
            leaving = min(other.size, lacking)
            changed = other.dirty * leaving // max(1, other.size)
            other.size -= leaving
            other.dirty -= changed
            self._free += leaving
            written_back += changed
        return written_back


def subnet_traffic(
    subnet: PlannedSubnet,
    l2_bytes: int,
    shares: Sequence[int],
    sizes: Mapping[str, int],
    cold: Collection[str] = (),
) -> SubnetTraffic:
    """Return what a subnet moves between L2 and DDR, weights apart.

    `shares` are the bytes that activations may occupy of `l2_bytes` during each call; `sizes`
    gives the stored bytes of every tensor and operand by name. The inputs have just been written
    by the conversion before the first call, except `cold` ones, which are only in DDR; the outputs
    are read by the conversion after the last call.
    """
    cache = _ActivationCache(l2_bytes)
    inputs = [
        Traffic() if name in cold else cache.write(name, sizes[name]) for name in subnet.inputs
    ]
    last_use = {name: i for i, layer in enumerate(subnet.layers) for name in layer.inputs}
    calls = []
    for index, (layer, share) in enumerate(zip(subnet.layers, shares, strict=True)):
        moved = Traffic(write_bytes=cache.limit(share))
        for name in dict.fromkeys(layer.inputs):
            moved += cache.read(name, sizes[name])
        for name in layer.outputs:
            moved += cache.write(name, sizes[name])
        for name in layer.inputs:
            if last_use[name] == index and name not in subnet.outputs:
                cache.drop(name)
        calls.append(moved)
    cache.limit(l2_bytes)
    outputs = [cache.read(name, sizes[name]) for name in subnet.outputs]
    return SubnetTraffic(tuple(inputs), tuple(calls), tuple(outputs))
