"""A simple graph compiler: turns kernel calls into operations of the tensor processor.

1. Clamps are fused into the layer before them, which the passes have done already.
2. A constant factor on a shallow input followed by a constant summand is an affine function of
   codes (quantised values), and is folded into the conversion of the input. The other order (mean
   subtracted first, then divided) stays two operations: measured networks with that order
   take 0.2 ms longer than one with the first, in 8 bits and in floats.
3. Operands and results that exceed half of VTCM are processed in strips; the excess goes
   through DDR once (spill and fill).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hexsim.graph.ir import Network
from hexsim.htp.cost import CallCost, cost_of
from hexsim.htp.matrices import in_tiles
from hexsim.layers import Elementwise
from hexsim.planning.plan import KernelCall

RESIDENT_SHARE = 0.5
"""Share of VTCM for activations; the other half is for prefetched weights."""
_SUMMANDS = frozenset({"sum", "sub"})


@dataclass(frozen=True)
class HtpOperation:
    """One operation of a compiled graph, with its bytes spilled to DDR and filled from there."""

    call: KernelCall
    cost: CallCost
    spill_bytes: float
    folded: bool = False

    @property
    def read_bytes(self) -> int:
        """Bytes from DDR: weights, states, and spilled operands that are filled."""
        return round(self.cost.fetched_bytes + self.spill_bytes) - self.write_bytes

    @property
    def write_bytes(self) -> int:
        """Bytes to DDR: the share of the results in the spilled bytes."""
        return round(self.spill_bytes * self.cost.result_share)


def compile_graph(
    calls: Sequence[KernelCall], network: Network, vtcm_bytes: int
) -> tuple[HtpOperation, ...]:
    """Compile the calls of `network` in order for a VTCM of `vtcm_bytes`."""
    folded, tiles = _folded(calls, network), in_tiles(network)
    room = vtcm_bytes * RESIDENT_SHARE
    operations = []
    for call in calls:
        cost = cost_of(call, network, tiles)
        if call.layer.name in folded:
            cost = replace(cost, shallow_vectors=0.0)
        spilled = max(0.0, cost.resident_bytes - room)
        operations.append(HtpOperation(call, cost, spilled, call.layer.name in folded))
    return tuple(operations)


def _folded(calls: Sequence[KernelCall], network: Network) -> frozenset[str]:
    """Return the names of the operations that are folded into the conversion of inputs."""
    names: set[str] = set()
    for call in calls:
        layer = call.layer
        if not (isinstance(layer, Elementwise) and _is_affine(layer, network)):
            continue
        if layer.kind == "product" and layer.inputs[0] in network.inputs:
            after = network.consumers[layer.output]
            if len(after) == 1 and _adds(after[0], network):
                names |= {layer.name, after[0].name}
    return frozenset(names)


def _is_affine(layer: Elementwise, network: Network) -> bool:
    return len(layer.inputs) == 2 and layer.inputs[1] in network.constants


def _adds(layer: object, network: Network) -> bool:
    return isinstance(layer, Elementwise) and layer.kind in _SUMMANDS and _is_affine(layer, network)
