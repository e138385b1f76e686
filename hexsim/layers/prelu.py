"""Prelu: a leaky rectifier with one slope per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape


@dataclass(frozen=True, kw_only=True)
class Prelu(Layer):
    """x where x >= 0, else slope * x; `slope` is (channels,) along the last stored axis."""

    type: ClassVar[str] = "prelu"

    slope: str

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The slope."""
        return (self.slope,)
