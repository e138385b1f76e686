"""A subnet as its engine has it: nodes that take places in an arena, and the memory on chip.

Inputs and outputs of the subnet are in its arena too: Hexagon NN has places for its Input nodes,
though a buffer that suits it is read where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

from hexsim.graph.ir import Shape
from hexsim.memory.arena import Arena, ArenaNode, arranged
from hexsim.planning.plan import PlannedSubnet

Size = Callable[[str, Shape], int]
"""Bytes of a tensor of this name and shape."""


@dataclass(frozen=True)
class SubnetGraph:
    """The nodes of a subnet: `before` its layers, one for each layer, `after` them.

    `packed` and `on_chip` have the bytes of each layer, `scratch_bytes` those of all together.
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
        """Where its tensors lie."""
        return arranged([*self.before, *self.layers, *self.after])

    @property
    def live(self) -> tuple[int, ...]:
        """Bytes in use of its arena while each layer runs."""
        begin = len(self.before)
        return self.arena.live[begin : begin + len(self.layers)]


def input_node(subnet: PlannedSubnet, size: Size) -> ArenaNode:
    """What makes the inputs of a subnet."""
    named = zip(subnet.inputs, subnet.input_shapes, strict=True)
    return ArenaNode((), tuple((name, size(name, shape)) for name, shape in named))


def layer_nodes(
    subnet: PlannedSubnet, size: Size, elsewhere: Collection[str] = ()
) -> tuple[ArenaNode, ...]:
    """A node for each layer of a subnet; tensors `elsewhere` take no place."""
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
