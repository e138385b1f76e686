"""Pad: a constant, or the tensor itself again, around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Bound, PerAxis
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support

PadMode = Literal["constant", "reflect", "edge", "wrap"]


@dataclass(frozen=True, kw_only=True)
class Pad(Layer):
    """Adds `begins[i]` positions before stored axis i and `ends[i]` behind.

    They hold `value` ("constant"), the input mirrored at its first or last position, which is not
    repeated ("reflect"), that position ("edge"), or the input over and over again ("wrap").
    """

    type: ClassVar[str] = "pad"
    support: ClassVar[Support] = NO_HTA_LAYER

    begins: PerAxis
    ends: PerAxis
    value: Bound = 0.0
    mode: PadMode = "constant"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """The input's shape and what is added."""
        if self.mode != "constant" and 0 in inputs[0]:
            raise InvalidDataError(
                f"an operand of the shape {list(inputs[0])} has nothing to repeat"
            )
        sizes = zip(self.begins, inputs[0], self.ends, strict=True)
        return (tuple(begin + size + end for begin, size, end in sizes),)

    @property
    def sign(self) -> Sign:
        """What it adds may be negative."""
        return "signed" if self.mode == "constant" and self.value < 0 else "as inputs"

    @property
    def moves_codes(self) -> bool:
        """True if it adds its input, or zeros, for which every encoding has a code."""
        return self.mode != "constant" or self.value == 0

    def variant(self, inputs: Sequence[Shape]) -> str:
        """The mode; zeros are told from other constants."""
        return "zeros" if self.mode == "constant" and self.value == 0 else self.mode

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """True if it adds nothing."""
        return not any((*self.begins, *self.ends))

    def interior(self, source: Shape) -> tuple[slice, ...]:
        """Return where the input, of shape `source`, lies in the output."""
        return tuple(
            slice(begin, begin + size) for begin, size in zip(self.begins, source, strict=True)
        )

    def positions(self, axis: int, size: int) -> tuple[int, ...]:
        """Return the input's position at each of the output, along stored axis `axis` of `size`.

        Of the modes that add no constant.
        """
        places = range(-self.begins[axis], size + self.ends[axis])
        if self.mode == "wrap":
            return tuple(at % size for at in places)
        if self.mode == "edge":
            return tuple(min(max(at, 0), size - 1) for at in places)
        period = 2 * (size - 1) or 1
        return tuple(min(at % period, -at % period) for at in places)
