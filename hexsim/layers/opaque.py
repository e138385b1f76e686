"""Opaque: an ONNX node that is no layer of ours and runs as it is on the CPU runtime.

Several nodes are one if they work on tensors whose sizes nobody knows beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import LARGEST, Count, Natural, Positive
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_LAYER, Support

PART_DOMAIN = "hexsim"
"""Domain of the node that stands for several: its attribute `body` is the graph of them."""


def operator_of(operators: Sequence[str]) -> str:
    """The `op_type` of a layer of these nodes: `NonZero`, or `NonZero +2` for three."""
    first, *others = operators
    return f"{first} +{len(others)}" if others else first


@dataclass(frozen=True, kw_only=True)
class Opaque(Layer):
    """One ONNX node, or a part of a graph as one, in its own axis order.

    `node` is the serialised NodeProto, `op_type` its operator and `opset` the version of the
    operator set it was written for; `shapes` are the stored shapes of its outputs. Its tensors
    are stored in source order, unless the operator is one of elements, to which every order is
    the same; permutes at its edges cost time. `inputs` leaves out the optional inputs that the node
    omits. The node takes `products` multiply-accumulates and `operations` on elements; where both
    are zero, nobody counted them. Of its inputs it reads all or, if that is not zero, `picks`
    elements. Where it is `sized_by_values`, its results or tensors inside it are as large as values
    decide, and `shapes` and the work are at their most.
    """

    support: ClassVar[Support] = NO_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    generic_cost: ClassVar[bool] = True
    operands: ClassVar[tuple[int, int]] = (0, LARGEST)

    op_type: str
    node: bytes
    opset: Positive = 17
    shapes: tuple[tuple[Natural, ...], ...]
    products: Count = 0
    operations: Count = 0
    picks: Count = 0
    sized_by_values: bool = False

    @property
    def type(self) -> str:
        """The operator, with its domain unless that is the standard one."""
        return self.op_type

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """What ONNX inferred."""
        return self.shapes

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Those of the operator."""
        return self.products

    def elements_read(self, inputs: Sequence[Shape]) -> int:
        """All, or those that it picks."""
        return self.picks or super().elements_read(inputs)
