"""Prelu: a leaky rectifier with one slope per channel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import ANY_BUT_SCALAR, NamedShapes, Shape, Sign
from hexsim.graph.support import EVERYWHERE, Support
from hexsim.layers._per_pixel import PerPixel


@dataclass(frozen=True, kw_only=True)
class Prelu(PerPixel):
    """x where x >= 0, else slope * x; `slope` is (channels,) along the last stored axis."""

    type: ClassVar[str] = "prelu"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    slope: str

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        return ((self.slope, inputs[0][-1:]),)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The slope."""
        return (self.slope,)
