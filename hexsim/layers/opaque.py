"""Opaque: an ONNX node without a layer type, which runs unchanged on the CPU runtime.

Connected nodes on tensors whose sizes are unknown beforehand become one opaque layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import LARGEST, Count, Positive, Sizes
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_LAYER, Support

PART_DOMAIN = "hexsim"
"""Domain of a node that contains several nodes: its attribute `body` is their graph."""


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
