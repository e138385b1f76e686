"""Which tensors are never whole in VTCM, as chains of operations run strip by strip.

An operation whose result has one consumer, the next operation, forms a chain with it if the
weights of the chain fit the half of VTCM that is theirs: the compiler prefers horizontal strips
(QNN guidelines on VTCM) and runs the chain on one strip before the next (inferred: YOLOv8 is
faster on 2 MB of VTCM than if all of its large tensors went through DDR). A consumer that needs
more than a strip and its neighbours, such as a transposition or a mean over the image, ends the
chain.
Left out: rows at the borders of strips that are computed twice.
"""

from collections.abc import Sequence

from hexsim.graph.ir import Network
from hexsim.layers import MatMul
from hexsim.planning.plan import KernelCall

_NEED_THE_WHOLE = frozenset({"permute", "reshape", "fully_connected"})


def inner_tensors(
    calls: Sequence[KernelCall], weight_bytes: Sequence[float], network: Network, room: float
) -> frozenset[str]:
    """Return the tensors inside the chains of `calls`, whose weights may take `room` bytes."""
    inner: set[str] = set()
    held = 0.0
    for at, size in enumerate(weight_bytes):
        if at and _follows(calls[at], calls[at - 1], network) and held + size <= room:
            inner.add(calls[at - 1].layer.output)
            held += size
        else:
            held = size
    return frozenset(inner)


def _follows(call: KernelCall, before: KernelCall, network: Network) -> bool:
    """Tell whether a call can take the result of the one before strip by strip."""
    layer, (name, *others) = call.layer, before.layer.outputs
    readers = network.consumers.get(name, ())
    if others or name in network.outputs or [reader is layer for reader in readers] != [True]:
        return False
    shapes = (network.shape(name), call.results[0])
    if any(len(shape) != 4 for shape in shapes) or layer.type in _NEED_THE_WHOLE:
        return False
    if isinstance(layer, MatMul) and layer.inputs[0] != name:
        return False
    return call.results[0][1] > 1
