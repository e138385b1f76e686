"""Pad: a constant around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import CPU, HTA, INTEGER, Support


@dataclass(frozen=True, kw_only=True)
class Pad(Layer):
    """Adds `begins[i]` positions before stored axis i and `ends[i]` behind, all holding `value`.

    Reflected and repeated edges are left out.
    """

    type: ClassVar[str] = "pad"
    support: ClassVar[Support] = Support(
        CPU | INTEGER - HTA, "Pad runs on CPU and DSP only (SNPE layer support table)"
    )

    begins: tuple[int, ...]
    ends: tuple[int, ...]
    value: float = 0.0

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """The input's shape and what is added."""
        sizes = zip(self.begins, inputs[0], self.ends, strict=True)
        return (tuple(begin + size + end for begin, size, end in sizes),)

    @property
    def sign(self) -> Sign:
        """What it adds may be negative."""
        return "as inputs" if self.value >= 0 else "signed"

    @property
    def moves_codes(self) -> bool:
        """True if it adds zeros, for which every encoding has a code."""
        return self.value == 0

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """True if it adds nothing."""
        return not any((*self.begins, *self.ends))

    def interior(self, source: Shape) -> tuple[slice, ...]:
        """Return where the input, of shape `source`, lies in the output."""
        return tuple(
            slice(begin, begin + size) for begin, size in zip(self.begins, source, strict=True)
        )
