"""Pad: a tensor with a border of a constant, or of its own elements."""

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
    """Adds `begins[i]` positions before and `ends[i]` after stored axis i.

    They contain `value` ("constant"), the input mirrored at its first or last position, which is
    not repeated ("reflect"), that position ("edge"), or the input repeated ("wrap").
    """

    type: ClassVar[str] = "pad"
    support: ClassVar[Support] = NO_HTA_LAYER

    begins: PerAxis
    ends: PerAxis
    value: Bound = 0.0
    mode: PadMode = "constant"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the input's shape plus the padding."""
        if self.mode != "constant" and 0 in inputs[0]:
            raise InvalidDataError(
                f"an operand of the shape {list(inputs[0])} has nothing to repeat"
            )
        sizes = zip(self.begins, inputs[0], self.ends, strict=True)
        return (tuple(begin + size + end for begin, size, end in sizes),)

    @property
    def sign(self) -> Sign:
        """The added constant may be negative."""
        return "signed" if self.mode == "constant" and self.value < 0 else "as inputs"

    @property
    def moves_codes(self) -> bool:
        """True if it adds its input, or zeros, for which every encoding has a code."""
        return self.mode != "constant" or self.value == 0

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the mode, or "zeros" for zeros."""
        return "zeros" if self.mode == "constant" and self.value == 0 else self.mode

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether it adds nothing."""
        return not any((*self.begins, *self.ends))

    def interior(self, source: Shape) -> tuple[slice, ...]:
        """Return the slices of the output that contain the input, of shape `source`."""
        return tuple(
            slice(begin, begin + size) for begin, size in zip(self.begins, source, strict=True)
        )

    def positions(self, axis: int, size: int) -> tuple[int, ...]:
        """Return the input position of each output position, along stored axis `axis` of `size`.

        Only for modes that add no constant.
        """
        outer = range(-self.begins[axis], size + self.ends[axis])
        if self.mode == "wrap":
            return tuple(place % size for place in outer)
        if self.mode == "edge":
            return tuple(min(max(place, 0), size - 1) for place in outer)
        period = 2 * (size - 1) or 1
        return tuple(min(place % period, -place % period) for place in outer)
