"""A simple graph compiler: turns kernel calls into operations of the tensor processor.

1. Clamps are fused into the layer before them, which the passes have done already.
2. A constant factor on a shallow input followed by a constant summand is an affine function of
   codes (quantised values), and is folded into the conversion of the input. The other order (mean
   subtracted first, then divided) stays two operations: measured networks with that order
   take 0.2 ms longer than one with the first, in 8 bits and in floats.
3. Operands and results that exceed half of VTCM are processed in strips; the excess goes
   through DDR once (spill and fill). Chains of operations run strip by strip, so that the tensors
   between them stay in VTCM. A strip has at least one row of croutons. If half of VTCM does not
   hold one of each operand and result, there is no room to fetch the next ones beside them:
   nothing computes while the excess is moved (inferred: UNet on 2 MB of VTCM). A product is cut
   into slices of output channels. The operand is fetched again for each if its strips do not fit;
   all rows of a matrix are one strip, as of an image of one row, which deployments make of it. If
   strips fit and the weights do not, it is that or the weights for each half of VTCM that the
   operand fills, whichever is less. An operation that reads
   such a tensor after another one begins with its first strips, which the last ones have replaced:
   all of it goes through DDR again (inferred: blocks of Llama 2, EDSR).
4. Weights stay in VTCM until as many bytes are fetched after them as half of it holds; operations
   that share them within this distance fetch them once. So do the steps of a recurrent layer.

An operation whose result has one consumer, the next operation, forms a chain with it if the
weights of the chain fit the half of VTCM that is theirs, and its strips the other: the compiler
prefers horizontal strips (QNN guidelines on VTCM) and runs the chain on one strip before the next
(inferred: YOLOv8 is faster on 2 MB of VTCM than if all of its large tensors went through DDR). A
consumer that needs more than a strip and its neighbours, such as a transposition or a mean over the
image, ends the chain.
Left out: rows at the borders of strips that are computed twice.
"""

import math
from collections.abc import Sequence

from hexsim.graph.ir import Layer, Network, Shape
from hexsim.htp.cost import PRODUCTS, CallCost, cost_of, shapes_by_name
from hexsim.htp.layout import ROWS, in_tiles, working_bytes
from hexsim.layers import Concat, Elementwise, MatMul
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass, replace

_IMAGE_AXES = 4
_NEED_THE_WHOLE = frozenset({"permute", "reshape", "fully_connected"})


def inner_tensors(
    calls: Sequence[KernelCall], weight_bytes: Sequence[float], network: Network, room: float
) -> frozenset[str]:
    """Return the tensors inside the chains of `calls`.

    The weights of a chain may take `room` bytes, and its strips as many.
    """
    inner: set[str] = set()
    weights = strips = 0.0
    for at, (call, size) in enumerate(zip(calls, weight_bytes, strict=True)):
        weights, strips = weights + size, strips + _strip_bytes(call, network)
        before = calls[at - 1]
        if at and _follows(call, before, network):
            strips -= _of_strip(network.shape(before.layer.output), call)
            if max(weights, strips) <= room:
                inner.add(before.layer.output)
                continue
        weights, strips = size, _strip_bytes(call, network)
    return frozenset(inner)


def _strip_bytes(call: KernelCall, network: Network) -> int:
    """Return the bytes of one strip of each operand and result.

    Operands of a concatenation are copied one after another.
    """
    sizes = [_of_strip(shape, call) for shape in shapes_by_name(call, network).values()]
    return 2 * max(sizes[:-1], default=0) if isinstance(call.layer, Concat) else sum(sizes)


def _of_strip(shape: Shape, call: KernelCall) -> int:
    """Return the bytes of a row of croutons of an image; a matrix is divided into any parts."""
    if len(shape) != _IMAGE_AXES:
        return 0
    batch, rows, *others = shape
    return working_bytes((batch, min(rows, ROWS), *others), call.activation_bits)


def _follows(call: KernelCall, before: KernelCall, network: Network) -> bool:
    """Tell whether a call can take the result of the one before strip by strip."""
    layer, (name, *others) = call.layer, before.layer.outputs
    readers = network.consumers.get(name, ())
    if others or name in network.outputs or [reader is layer for reader in readers] != [True]:
        return False
    shapes = (network.shape(name), call.results[0])
    if any(len(shape) != _IMAGE_AXES for shape in shapes) or layer.type in _NEED_THE_WHOLE:
        return False
    if isinstance(layer, MatMul) and layer.inputs[0] != name:
        return False
    return call.results[0][1] > 1


RESIDENT_SHARE = 0.5
"""Share of VTCM for activations; the other half is for prefetched weights (assumed)."""
_SLICE = 256
"""Output channels that a part of a product has at most (inferred: of the powers of two, the one
with which blocks of Llama 2 come out right; with 128 or 512 they are off by 22 to 45 %)."""


@dataclass(frozen=True)
class HtpOperation:
    """One operation of a compiled graph, with its bytes spilled to DDR and filled from there.

    They are moved before it computes, while nothing else does, if it fills VTCM: `fills_vtcm`.
    It takes `slower` times as long as its work says, in all of its parts.
    """

    call: KernelCall
    cost: CallCost
    spill_bytes: float
    folded: bool = False
    fills_vtcm: bool = False
    slower: float = 1.0

    @property
    def read_bytes(self) -> int:
        """Bytes from DDR: weights, states, and spilled operands that are filled."""
        return self.state_bytes + self.fetched_bytes

    @property
    def state_bytes(self) -> int:
        """Bytes of states, which HVX reads."""
        return round(self.cost.state_bytes)

    @property
    def fetched_bytes(self) -> int:
        """Bytes that DMA reads."""
        return round(self.cost.weight_bytes + self.spill_bytes) - self.write_bytes

    @property
    def write_bytes(self) -> int:
        """Bytes to DDR: the share of the results in the spilled bytes."""
        share = self.cost.result_bytes / max(1, self.cost.resident_bytes)
        return round(self.spill_bytes * share)


def compile_graph(
    calls: Sequence[KernelCall], network: Network, vtcm_bytes: int
) -> tuple[HtpOperation, ...]:
    """Compile the calls of `network` in order for a VTCM of `vtcm_bytes`."""
    folded, tiles = _folded(calls, network), in_tiles(network)
    room = vtcm_bytes * RESIDENT_SHARE
    costs = [cost_of(call, network, tiles) for call in calls]
    inner = inner_tensors(calls, [cost.weight_bytes for cost in costs], network, room)
    operations = []
    for call, cost, share in zip(calls, costs, _shares_held(calls, costs, room), strict=True):
        is_folded = call.layer.name in folded
        if is_folded:
            cost = replace(cost, broadcast_vectors=0.0)
        cost = _without(cost, call, network, inner)
        fetched = cost.weight_bytes * (1 - share)
        if cost.step_bytes > room:
            fetched += (cost.steps - 1) * cost.step_bytes
        kept = 0.0 if _reads_again(call, network, room) else room
        spilled = max(0.0, cost.resident_bytes - kept) * cost.matrices
        cost = replace(cost, weight_bytes=fetched + _fetched_again(call, cost, room))
        fills = spilled > 0 and _strip_bytes(call, network) > room
        operations.append(HtpOperation(call, cost, spilled, is_folded, fills))
    return tuple(operations)


def _reads_again(call: KernelCall, network: Network, room: float) -> bool:
    """Tell whether a call reads a tensor beyond `room` that another operation has read before."""
    return any(
        network.consumers[name][0] is not call.layer
        and working_bytes(network.shape(name), call.activation_bits) > room
        for name in call.layer.inputs
        if name in network.tensors
    )


def _fetched_again(call: KernelCall, cost: CallCost, room: float) -> float:
    """Return the bytes of a product that are fetched again because its operand does not fit."""
    layer, operand = call.layer, call.operands[0]
    operands = cost.resident_bytes - cost.result_bytes
    if not isinstance(layer, PRODUCTS) or operands <= room:
        return 0.0
    by_slices = (math.ceil(layer.output_channels / _SLICE) - 1) * operands
    strip = _of_strip(operand, call) or working_bytes(operand, call.activation_bits)
    if strip > room:
        return by_slices
    strips = math.ceil(operands / room) if cost.weight_bytes > room else 1
    return min((strips - 1) * cost.weight_bytes, by_slices)


def _shares_held(
    calls: Sequence[KernelCall], costs: Sequence[CallCost], room: float
) -> list[float]:
    """Return for each call the share of its weights that is in VTCM already, 0 .. 1."""
    shares, fetched_bytes = [], 0.0
    begins: dict[str, float] = {}
    for call, cost in zip(calls, costs, strict=True):
        sizes = dict(zip(call.layer.parameters, map(math.prod, call.parameters), strict=True))
        held = {name for name in sizes if fetched_bytes - begins.get(name, -math.inf) <= room}
        shares.append(sum(sizes[name] for name in held) / max(1, sum(sizes.values())))
        begins |= dict.fromkeys(sizes.keys() - held, fetched_bytes)
        fetched_bytes += cost.weight_bytes * (1 - shares[-1])
    return shares


def gates(operations: Sequence[HtpOperation], vtcm_bytes: int) -> tuple[int, ...]:
    """Return for each operation how many must have ended before DMA has room for its weights."""
    ahead = vtcm_bytes * RESIDENT_SHARE
    fetched_bytes = [0.0]
    first = 0
    ended_before = []
    for at, operation in enumerate(operations):
        fetched_bytes.append(fetched_bytes[-1] + operation.cost.weight_bytes)
        while first < at and fetched_bytes[at + 1] - fetched_bytes[first] > ahead:
            first += 1
        ended_before.append(at if operation.fills_vtcm else first)
    return tuple(ended_before)


def _without(cost: CallCost, call: KernelCall, network: Network, inner: frozenset[str]) -> CallCost:
    """Return the cost without the bytes of tensors that are never whole in VTCM."""
    bits = call.activation_bits
    sizes = {
        name: working_bytes(shape, bits)
        for name, shape in shapes_by_name(call, network).items()
        if name in inner
    }
    results = sum(size for name, size in sizes.items() if name in call.layer.outputs)
    return replace(
        cost,
        resident_bytes=cost.resident_bytes - sum(sizes.values()),
        result_bytes=cost.result_bytes - results,
    )


def _folded(calls: Sequence[KernelCall], network: Network) -> frozenset[str]:
    """Return the names of the operations that are folded into the conversion of inputs."""
    names: set[str] = set()
    for layer in (call.layer for call in calls):
        if _is_affine(layer, network, "product") and layer.inputs[0] in network.inputs:
            after = network.consumers.get(layer.output, ())
            if len(after) == 1 and _is_affine(after[0], network, "sum", "sub"):
                names |= {layer.name, after[0].name}
    return frozenset(names)


def _is_affine(layer: Layer, network: Network, *kinds: str) -> bool:
    """Tell whether a layer of one of these kinds combines a tensor with a constant."""
    constant = len(layer.inputs) == 2 and layer.inputs[1] in network.constants
    return isinstance(layer, Elementwise) and layer.kind in kinds and constant
