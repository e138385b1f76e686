"""Which activations stay in L2, and the traffic to and from DDR of those that do not.

This is decided before the simulation, call by call. L2 can hold parts of tensors: if half of a
tensor is in L2, the other half is read from DDR. The least recently used tensor is evicted first,
byte by byte. Evicted bytes that were changed are written back. A tensor that no layer reads again
is dropped without a write, because Hexagon NN reuses its buffer for the next tensors.

A tensor that is larger than L2 evicts its own first bytes while its last bytes are written, and the
others while the first are read again. So none of its bytes is ever in L2 when it is read, and the
other tensors in L2 are taken to stay. The 1x1 convolution of one channel over 256x256 pixels in
measured_latency.csv supports this: its 2 MB of d32 cost a write to DDR and a read.

Weights pass through L2 in slices and are read from DDR every time, because the weights of a network
do not fit. While a layer runs, its weights reduce the share of L2 that activations have.

The replacement policy of the real L2 is not published.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from hexsim.planning.plan import PlannedSubnet
from hexsim.records import dataclass
from hexsim.timing.memory import Traffic


@dataclass(frozen=True)
class SubnetTraffic:
    """Traffic through DDR of each input's conversion to d32, each call and each output."""

    inputs: tuple[Traffic, ...]
    calls: tuple[Traffic, ...]
    outputs: tuple[Traffic, ...]


@dataclass
class _CachedTensor:
    """Bytes of one tensor in L2, and how many of them DDR does not have."""

    size: int = 0
    dirty: int = 0


class _ActivationCache:
    """Tensors in L2 by bytes, least recently used first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._free = capacity
        self._tensors: OrderedDict[str, _CachedTensor] = OrderedDict()

    def limit(self, capacity: int) -> int:
        """Change the capacity; return the bytes that are written back if it falls."""
        self._free += capacity - self._capacity
        self._capacity = capacity
        return self._make_room(0)

    def read(self, name: str, size: int) -> Traffic:
        """Read a tensor: missing bytes come from DDR, and stay in L2 as far as they fit."""
        missing = self.missing(name, size)
        if size > self._capacity:
            return Traffic(missing, 0, size)
        written_back = self._grow(self._use(name), missing)
        return Traffic(missing, written_back, self.missing(name, size))

    def write(self, name: str, size: int) -> Traffic:
        """Write a tensor: bytes that do not fit go to DDR."""
        if size > self._capacity:
            return Traffic(0, size)
        tensor = self._use(name)
        written_back = self._grow(tensor, size)
        tensor.dirty = tensor.size
        return Traffic(0, written_back + size - tensor.size)

    def missing(self, name: str, size: int) -> int:
        return size - (self._tensors[name].size if name in self._tensors else 0)

    def drop(self, name: str) -> None:
        if name in self._tensors:
            self._free += self._tensors.pop(name).size

    def _use(self, name: str) -> _CachedTensor:
        tensor = self._tensors.setdefault(name, _CachedTensor())
        self._tensors.move_to_end(name)
        return tensor

    def _grow(self, tensor: _CachedTensor, size: int) -> int:
        """Cache up to `size` more bytes of a tensor; return the bytes that are written back."""
        written_back = self._make_room(size, tensor)
        added = min(size, self._free)
        tensor.size += added
        self._free -= added
        return written_back

    def _make_room(self, size: int, in_use: _CachedTensor | None = None) -> int:
        """Evict other tensors until `size` bytes are free; return the bytes written back."""
        written_back = 0
        for tensor in self._tensors.values():
            lacking = size - self._free
            if tensor is in_use or lacking <= 0:
                break  # the tensor in use is the last one
            evicted = min(tensor.size, lacking)
            changed = tensor.dirty * evicted // max(1, tensor.size)
            tensor.size -= evicted
            tensor.dirty -= changed
            self._free += evicted
            written_back += changed
        return written_back


def subnet_traffic(
    subnet: PlannedSubnet,
    l2_bytes: int,
    shares: Sequence[int],
    sizes: Mapping[str, int],
    cold: Collection[str] = (),
) -> SubnetTraffic:
    """Return the traffic of a subnet between L2 and DDR, without weights.

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
        traffic = Traffic(write_bytes=cache.limit(share))
        for name in dict.fromkeys(layer.inputs):
            traffic += cache.read(name, sizes[name])
        for name in layer.outputs:
            traffic += cache.write(name, sizes[name])
        for name in layer.inputs:
            if last_use[name] == index and name not in subnet.outputs:
                cache.drop(name)
        calls.append(traffic)
    cache.limit(l2_bytes)
    outputs = [cache.read(name, sizes[name]) for name in subnet.outputs]
    return SubnetTraffic(tuple(inputs), tuple(calls), tuple(outputs))
