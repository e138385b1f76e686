"""The graphs of subnets on CPU, GPU and tensor engine, whose runtimes are not published.

CPU and GPU have tensors as they are, without padding. The tensor engine has them in its layout;
what its compiler keeps on chip (`hexsim.hta.kept`) is not in the arena. Weights are used as they
are given.
"""

from __future__ import annotations

import math

from hexsim.graph.ir import Shape
from hexsim.hta.kept import kept_on_chip
from hexsim.hta.layout import tensor_bytes
from hexsim.hvx.orientation import laid_down
from hexsim.memory.arena import Node, arranged
from hexsim.memory.graph import Graph, input_node, layer_nodes
from hexsim.planning.plan import PlannedSubnet
from hexsim.platforms.chips.chip import Hta


def on_host(subnet: PlannedSubnet) -> Graph:
    """Return the graph of a subnet on CPU or GPU."""

    def size(name: str, shape: Shape) -> int:
        return math.prod(shape) * subnet.bits[name] // 8

    none = (0,) * len(subnet.calls)
    return Graph(
        subnet,
        before=(input_node(subnet, size),),
        layers=layer_nodes(subnet, size),
        after=(Node(subnet.outputs, ()),),
        packed=none,
        on_chip=none,
    )


def on_hta(subnet: PlannedSubnet, hta: Hta) -> Graph:
    """Return the graph of a subnet on the tensor engine."""
    subnet = laid_down(subnet)
    kept = kept_on_chip(subnet, hta.kept_bytes)

    def size(name: str, shape: Shape) -> int:
        return tensor_bytes(shape, subnet.bits[name])

    makes = layer_nodes(subnet, size)
    on_chip = (
        Node(node.reads, tuple((name, size) for name, size in node.makes if name in kept))
        for node in makes
    )
    return Graph(
        subnet,
        before=(input_node(subnet, size),),
        layers=layer_nodes(subnet, size, elsewhere=kept),
        after=(Node(subnet.outputs, ()),),
        packed=(0,) * len(subnet.calls),
        on_chip=arranged(list(on_chip)).live,
    )
