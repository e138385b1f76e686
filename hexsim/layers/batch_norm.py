"""BatchNorm: a scale and shift per channel that no convolution could absorb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape
from hexsim.layers._clamp import NO_CLAMP, Clamp


@dataclass(frozen=True, kw_only=True)
class BatchNorm(Layer):
    """scale * x + shift; both are (channels,) along the last stored axis.

    `moments` is (2, channels): the mean and standard deviation that training saw in each channel
    of the result before the clamp; None if nobody knows.
    """

    type: ClassVar[str] = "batchnorm"

    scale: str
    shift: str
    clamp: Clamp = NO_CLAMP
    moments: str | None = None

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Scale, then shift."""
        return (self.scale, self.shift)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The moments, if they are known."""
        return () if self.moments is None else (self.moments,)
