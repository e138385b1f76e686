"""Prelu: a leaky rectifier with one slope per channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Sign
from hexsim.graph.support import EVERYWHERE, Support
from hexsim.layers._per_pixel import PerPixel


@dataclass(frozen=True, kw_only=True)
class Prelu(PerPixel):
    """x where x >= 0, else slope * x; `slope` is (channels,) along the last stored axis."""

    type: ClassVar[str] = "prelu"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False

    slope: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The slope."""
        return (self.slope,)
