"""UserDefined: an operator that the user brings (`hexsim.udl`).

The layer names the operator, and its file holds that name alone; what the operator does is looked
up where a network is read. Who takes it follows from what the user says: integer runtimes need
integer values, and all but those on the CPU a cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from hexsim.errors import HexsimError
from hexsim.graph.domains import LARGEST, UNSTORED, Natural
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import CPU, GPU, INTEGER, Rule, Support
from hexsim.layers._attribute import Attribute
from hexsim.runtimes import RUNTIMES, LayerTarget
from hexsim.udl import Cost, Node, Processor, UserLayer, find
from hexsim.udl.calling import cost_of, output_shapes

T = TypeVar("T")
MOST_INPUTS = 1 << 16
"""No operator has more."""
_ON_DSP: frozenset[LayerTarget] = frozenset({"dsp", "aip"})
_FIXED_ON_CPU: frozenset[LayerTarget] = frozenset({"fxp_cpu"})


def _has_several_outputs(layer: UserDefined, network: Network) -> bool:
    return len(layer.outputs) > 1


@dataclass(frozen=True, kw_only=True)
class UserDefined(Layer):
    """One node of the operator `op_type`, which has its domain before it.

    `places` are the positions of its inputs among those of the operator, where optional ones are
    left out; `source` names what brings the operator, `definition` is what it is. Tensors are in
    source order, unless the operator does the same to every element.
    """

    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    operands: ClassVar[tuple[int, int]] = (1, LARGEST)
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(INTEGER, _has_several_outputs, "a user-defined layer of integers has one output"),
    )

    op_type: str
    places: tuple[Natural, ...]
    attributes: tuple[Attribute, ...] = ()
    source: str = ""
    definition: UserLayer | None = field(default=None, compare=False, metadata=UNSTORED)

    def fault(self) -> str | None:
        """Say what is wrong between its fields, if anything."""
        if len(self.places) != len(self.inputs) or sorted(set(self.places)) != [*self.places]:
            return f"its {len(self.inputs)} inputs are at the places {list(self.places[:9])}"
        if self.places and self.places[-1] >= MOST_INPUTS:
            return f"it has an input at the place {self.places[-1]} of at most {MOST_INPUTS}"
        names = (self.op_type, self.source, *(attribute.name for attribute in self.attributes))
        if not all(map(str.isprintable, names)):
            return "its operator, file or attributes have characters that are not printed"
        return None

    @property
    def type(self) -> str:
        """The operator, with its domain unless that is the standard one."""
        return self.op_type

    @property
    def known(self) -> UserLayer:
        """What the operator is; every network that was read has it."""
        assert self.definition is not None, f"layer '{self.name}' has not been looked up"
        return self.definition

    @property
    def support(self) -> Support:
        """The CPU, and whoever the user brings values and a cost for."""
        targets = CPU
        if "gpu" in self.known.costs:
            targets |= GPU
        if self.known.codes is not None:
            targets |= _FIXED_ON_CPU
            if "dsp" in self.known.costs:
                targets |= _ON_DSP
        named = ", ".join(runtime for runtime in RUNTIMES if runtime in targets)
        who = f"'{self.source}'" if self.source else "the program"
        return Support(targets, f"{who} brings it for {named} alone")

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """The user's own rule."""
        return output_shapes(self.known, self.node(inputs), len(self.outputs))

    def node(self, inputs: Sequence[Shape], outputs: Sequence[Shape] = ()) -> Node:
        """The node as the user's functions see it, for such shapes."""
        return Node(
            self.name,
            {attribute.name: attribute.value for attribute in self.attributes},
            self.at_places(inputs),
            tuple(outputs),
        )

    def at_places(self, given: Sequence[T]) -> tuple[T | None, ...]:
        """Something of each input, with None for those that are left out."""
        found = dict(zip(self.places, given, strict=True))
        return tuple(found.get(place) for place in range(self.places[-1] + 1))

    def cost(
        self, processor: Processor, inputs: Sequence[Shape], outputs: Sequence[Shape]
    ) -> Cost | None:
        """What the user says that it costs, None where nothing is said."""
        return cost_of(self.known, self.node(inputs, outputs), processor)


def looked_up(layer: Layer, file: object) -> Layer:
    """Return a layer that was read from a file, with what is known of its operator.

    Raises HexsimError if nobody brings that.
    """
    if not isinstance(layer, UserDefined):
        return layer
    definition = find(layer.op_type)
    if definition is None:
        brought = f"that '{layer.source}' brings" if layer.source else "that a program brought"
        raise HexsimError(
            f"'{file}': layer '{layer.name}' is the user-defined operator {layer.op_type}, "
            f"{brought}; give it (--udl FILE, or hexsim.use_layers)"
        )
    return layer.replace(definition=definition)
