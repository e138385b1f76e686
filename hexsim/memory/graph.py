"""The graph of a subnet on its engine: nodes with tensors in an arena, and the memory on chip.

Inputs and outputs of the subnet are in its arena too: Hexagon NN allocates its Input nodes,
although it reads a suitable buffer directly.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

from hexsim.graph.ir import Shape
from hexsim.memory.arena import Arena, ArenaNode, arrange
from hexsim.planning.plan import PlannedSubnet

Size = Callable[[str, Shape], int]
"""Bytes of a tensor of this name and shape."""


@dataclass(frozen=True)
class SubnetGraph:
    """The nodes of a subnet: those `before` its layers, one for each layer, and those `after`.

    `packed` and `on_chip` are the bytes of each layer, `scratch_bytes` are shared by all.
    """

    subnet: PlannedSubnet
    before: tuple[ArenaNode, ...]
    layers: tuple[ArenaNode, ...]
    after: tuple[ArenaNode, ...]
    packed: tuple[int, ...]
    on_chip: tuple[int, ...]
    scratch_bytes: int = 0

    @cached_property
    def arena(self) -> Arena:
        """The arena of its tensors."""
        return arrange([*self.before, *self.layers, *self.after])

    @property
    def live(self) -> tuple[int, ...]:
        """Bytes of the arena that are in use while each layer runs."""
        begin = len(self.before)
        return self.arena.live[begin : begin + len(self.layers)]


def input_node(subnet: PlannedSubnet, size: Size) -> ArenaNode:
    """Return a node that makes the inputs of a subnet."""
    inputs = zip(subnet.inputs, subnet.input_shapes, strict=True)
    return ArenaNode((), tuple((name, size(name, shape)) for name, shape in inputs))


def layer_nodes(
    subnet: PlannedSubnet, size: Size, elsewhere: Collection[str] = ()
) -> tuple[ArenaNode, ...]:
    """Return a node for each layer of a subnet; tensors in `elsewhere` are left out."""
    return tuple(
        ArenaNode(
            call.layer.inputs,
            tuple(
                (name, size(name, shape))
                for name, shape in zip(call.layer.outputs, call.results, strict=True)
                if name not in elsewhere
            ),
        )
        for call in subnet.calls
    )
