"""Opaque and UserDefined: operators that ONNX files name and hexsim has no layer type for.

An Opaque layer is an ONNX node that runs unchanged on the CPU runtime, or connected nodes on
tensors whose sizes are unknown beforehand. A UserDefined one has only the name of its operator in
the file; its definition (`hexsim.udl`) is looked up when a network is read, and decides which
runtimes support it: integer runtimes need integer values, all outside the CPU need a cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from hexsim.errors import HexsimError, spelled
from hexsim.graph.domains import LARGEST, UNSTORED, Count, Natural, Positive, Sizes
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import CPU, GPU, INTEGER, NO_LAYER, Limit, Support
from hexsim.layers._attribute import Attribute
from hexsim.records import dataclass, field
from hexsim.runtimes import RUNTIMES, LayerTarget
from hexsim.udl import Cost, Node, Processor, UserLayer, find
from hexsim.udl.calling import cost_of, output_shapes

PART_DOMAIN = "hexsim"
"""Domain of a node that contains several nodes: its attribute `body` is their graph."""
RANDOM = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
"""Operators of which each run has another result."""


def operator_of(operators: Sequence[str]) -> str:
    """Return the `op_type` of a layer of these nodes: `NonZero`, or `NonZero +2` for three."""
    first, *others = operators
    return f"{first} +{len(others)}" if others else first


@dataclass(frozen=True, kw_only=True)
class Opaque(Layer):
    """One ONNX node, or a part of a graph, in its own axis order.

    `node` is the serialised NodeProto, `op_type` its operator and `opset` the version of the
    operator set it was written for; `shapes` are the stored shapes of its outputs. Its tensors
    are stored in source order, unless the operator is element-wise; permutes at its inputs and
    outputs cost time. `inputs` leaves out optional inputs that the node omits. The node takes
    `products` multiply-accumulates and `operations` on elements; if both are zero, they are
    unknown. It reads all elements of its inputs or, if that is not zero, `picks` elements. With
    `sized_by_values` the sizes of its results or inner tensors depend on values, and `shapes` and
    work are maxima. `form` tells forms of an operator apart that the table of a release has.
    """

    support: ClassVar[Support] = NO_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    generic_cost: ClassVar[bool] = True
    operands: ClassVar[tuple[int, int]] = (0, LARGEST)

    op_type: str
    node: bytes
    opset: Positive = 17
    shapes: tuple[Sizes, ...]
    products: Count = 0
    operations: Count = 0
    picks: Count = 0
    sized_by_values: bool = False
    form: str = ""

    @property
    def type(self) -> str:
        """The operator, with its domain unless that is the standard one."""
        return self.op_type

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the form."""
        return self.form

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shapes that ONNX inferred."""
        return self.shapes

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return those of the operator."""
        return self.products

    def elements_read(self, inputs: Sequence[Shape]) -> int:
        """Return all, or those that it picks."""
        return self.picks or super().elements_read(inputs)


T = TypeVar("T")
MOST_INPUTS = 1 << 16
"""The most inputs of an operator."""
_ON_DSP: frozenset[LayerTarget] = frozenset({"dsp", "aip"})
_FIXED_ON_CPU: frozenset[LayerTarget] = frozenset({"fxp_cpu"})


def _has_several_outputs(layer: UserDefined, network: Network) -> bool:
    return len(layer.outputs) > 1


@dataclass(frozen=True, kw_only=True)
class UserDefined(Layer):
    """One node of the operator `op_type`, which has its domain before it.

    `places` are the positions of its inputs among those of the operator, as optional ones may be
    left out. `source` names the file that defines the operator, `definition` is its definition.
    Tensors are in source order, unless the operator is element-wise.
    """

    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    operands: ClassVar[tuple[int, int]] = (1, LARGEST)
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(INTEGER, _has_several_outputs, "a user-defined layer of integers has one output"),
    )

    op_type: str
    places: tuple[Natural, ...]
    attributes: tuple[Attribute, ...] = ()
    source: str = ""
    definition: UserLayer | None = field(default=None, compare=False, metadata=UNSTORED)

    def fault(self) -> str | None:
        """Return a fault if its fields contradict each other."""
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
        """The definition of the operator; every network that was read has it."""
        assert self.definition is not None, f"layer '{self.name}' has not been looked up"
        return self.definition

    @property
    def support(self) -> Support:
        """The CPU, and the runtimes for which the user gives values and a cost."""
        targets = CPU
        if "gpu" in self.known.costs:
            targets |= GPU
        if self.known.codes is not None:
            targets |= _FIXED_ON_CPU
            if "dsp" in self.known.costs:
                targets |= _ON_DSP
        runtimes = ", ".join(runtime for runtime in RUNTIMES if runtime in targets)
        origin = f"'{self.source}'" if self.source else "the program"
        return Support(targets, f"{origin} brings it for {runtimes} alone")

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shapes by the user's own rule."""
        return output_shapes(self.known, self.node(inputs), len(self.outputs))

    def node(self, inputs: Sequence[Shape], outputs: Sequence[Shape] = ()) -> Node:
        """Return the node for the user's functions, with these shapes."""
        return Node(
            self.name,
            {attribute.name: attribute.value for attribute in self.attributes},
            self.at_places(inputs),
            tuple(outputs),
        )

    def at_places(self, items: Sequence[T]) -> tuple[T | None, ...]:
        """Return the given items by position, with None for inputs that are left out."""
        by_place = dict(zip(self.places, items, strict=True))
        return tuple(by_place.get(place) for place in range(self.places[-1] + 1))

    def cost(
        self, processor: Processor, inputs: Sequence[Shape], outputs: Sequence[Shape]
    ) -> Cost | None:
        """Return the cost that the user states, None if there is none."""
        return cost_of(self.known, self.node(inputs, outputs), processor)


def looked_up(layer: Layer, file: object) -> Layer:
    """Return a layer that was read from a file, with the definition of its operator.

    Raises HexsimError if there is no definition.
    """
    if not isinstance(layer, UserDefined):
        return layer
    definition = find(layer.op_type)
    if definition is None:
        origin = f"that '{layer.source}' brings" if layer.source else "that a program brought"
        raise HexsimError(
            f"'{file}': layer '{layer.name}' is the user-defined operator {layer.op_type}, "
            f"{origin}; give it ({spelled('udl', 'FILE')})"
        )
    return layer.replace(definition=definition)
