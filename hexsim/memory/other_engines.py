"""The graphs of subnets on CPU, GPU, tensor engine and processor, whose runtimes are unpublished.

Tensors of CPU and GPU have no padding. The tensor engine has its own layout; tensors that its
compiler keeps on chip (`hexsim.hta.residency`) are not in the arena. Weights are not packed.
On the tensor processor both are in its tiles, and half of VTCM holds activations.
"""

import math
from collections.abc import Callable

from hexsim.datasheets.chips.chip import Hta, Htp
from hexsim.graph.ir import Network, Shape
from hexsim.hta.layout import tensor_bytes
from hexsim.hta.residency import resident_on_chip
from hexsim.htp.compiler import RESIDENT_SHARE
from hexsim.htp.cost import weight_bytes
from hexsim.htp.layout import stored_bytes
from hexsim.memory.arena import ArenaNode, arrange
from hexsim.memory.graph import SubnetGraph, input_node, layer_nodes
from hexsim.planning.orientation import laid_down
from hexsim.planning.plan import PlannedSubnet


def on_host(subnet: PlannedSubnet) -> SubnetGraph:
    """Return the graph of a subnet on CPU or GPU."""

    def size(name: str, shape: Shape) -> int:
        return math.prod(shape) * subnet.bits[name] // 8

    none = (0,) * len(subnet.calls)
    return SubnetGraph(
        subnet,
        before=(input_node(subnet, size),),
        layers=layer_nodes(subnet, size),
        after=(ArenaNode(subnet.outputs, ()),),
        packed=none,
        on_chip=none,
    )


def on_hta(subnet: PlannedSubnet, hta: Hta) -> SubnetGraph:
    """Return the graph of a subnet on the tensor engine."""
    subnet = laid_down(subnet)
    resident = resident_on_chip(subnet, hta.kept_bytes)
    return _with_resident_tensors(subnet, resident, tensor_bytes, (0,) * len(subnet.calls))


def on_htp(subnet: PlannedSubnet, network: Network, htp: Htp) -> SubnetGraph:
    """Return the graph of a subnet on the tensor processor; its weights are packed into tiles.

    States stay in the buffers of the application, from which DMA fetches them.
    """
    resident = resident_on_chip(subnet, int(htp.vtcm_bytes * RESIDENT_SHARE), stored_bytes)
    counted: set[tuple[str, ...]] = set()
    packed = []
    for call in subnet.calls:  # operations that share weights read the same tiles
        names = call.layer.parameters[:1]
        packed.append(0 if names and names in counted else round(weight_bytes(call)))
        counted.add(names)
    return _with_resident_tensors(
        subnet, resident, stored_bytes, tuple(packed), elsewhere=frozenset(network.states)
    )


def _with_resident_tensors(
    subnet: PlannedSubnet,
    resident: frozenset[str],
    size_of: Callable[[Shape, int], int],
    packed: tuple[int, ...],
    elsewhere: frozenset[str] = frozenset(),
) -> SubnetGraph:
    """Return a graph whose `resident` tensors are on chip, and not in its arena.

    Inputs in `elsewhere` are in no memory of the graph.
    """

    def size(name: str, shape: Shape) -> int:
        return 0 if name in elsewhere else size_of(shape, subnet.bits[name])

    makes = layer_nodes(subnet, size)
    on_chip = (
        ArenaNode(node.reads, tuple((name, size) for name, size in node.makes if name in resident))
        for node in makes
    )
    return SubnetGraph(
        subnet,
        before=(input_node(subnet, size),),
        layers=layer_nodes(subnet, size, elsewhere=resident),
        after=(ArenaNode(subnet.outputs, ()),),
        packed=packed,
        on_chip=arrange(list(on_chip)).live,
    )
