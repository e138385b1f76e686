"""Concat: tensors joined along one stored axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape


@dataclass(frozen=True, kw_only=True)
class Concat(Layer):
    """Joins its inputs along stored axis `axis` (not negative)."""

    type: ClassVar[str] = "concatenation"

    axis: int

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """The first input's shape with the sum of the sizes along `axis`."""
        shape = list(inputs[0])
        shape[self.axis] = sum(other[self.axis] for other in inputs)
        return (tuple(shape),)
