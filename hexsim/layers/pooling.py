"""Pooling: maximum or average over a window, global pooling included."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import EVERYWHERE, Support
from hexsim.layers._window import Window


@dataclass(frozen=True, kw_only=True)
class Pooling(Layer):
    """2-D pooling of an NHWC tensor; a global pooling has a window as large as its input.

    With `count_include_pad` an average counts the padding.
    """

    type: ClassVar[str] = "pooling"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    ranks: ClassVar[tuple[int, ...]] = (4,)

    kind: Literal["max", "average"]
    window: Window
    count_include_pad: bool = False

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H', W', C)."""
        batch, height, width, channels = inputs[0]
        return ((batch, *self.window.output_size(height, width), channels),)

    @property
    def moves_codes(self) -> bool:
        """True for a maximum."""
        return self.kind == "max"

    def turned(self) -> Self:
        """Return it with a turned window."""
        return self.replace(window=self.window.turned())

    def is_global(self, height: int, width: int) -> bool:
        """Return whether one window covers the whole unpadded input."""
        return self.window.kernel == (height, width) and not any(self.window.pads)
