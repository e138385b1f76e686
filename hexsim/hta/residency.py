"""Which activations stay in the engine's local memory between layers.

The compiler knows all lifetimes, so it places tensors ahead of time: in the order in which they
are written, each stays if it fits beside those already placed for its whole lifetime. Inputs and
outputs of the subnet are in DDR.
"""

from collections.abc import Callable

from hexsim.graph.ir import Shape
from hexsim.hta.layout import tensor_bytes
from hexsim.planning.plan import PlannedSubnet


def resident_on_chip(
    subnet: PlannedSubnet, capacity: int, size_of: Callable[[Shape, int], int] = tensor_bytes
) -> frozenset[str]:
    """Return the tensors that are never in DDR.

    `capacity` is in bytes; `size_of` returns the bytes of a shape at a number of bits.
    """
    last_use = {name: at for at, layer in enumerate(subnet.layers) for name in layer.inputs}
    used = [0] * len(subnet.calls)
    resident = set()
    for at, call in enumerate(subnet.calls):
        for name, shape in zip(call.layer.outputs, call.results, strict=True):
            if name in subnet.outputs or name not in last_use:
                continue
            size = size_of(shape, call.activation_bits)
            life = range(at, last_use[name] + 1)
            if all(used[step] + size <= capacity for step in life):
                resident.add(name)
                for step in life:
                    used[step] += size
    return frozenset(resident)
