"""Convolution: dense, grouped or depthwise, with a fused clamp."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hexsim.graph.ir import Shape
from hexsim.graph.support import EVERYWHERE, Support
from hexsim.layers._filtering import Filtering


@dataclass(frozen=True, kw_only=True)
class Convolution(Filtering):
    """2-D convolution of an NHWC tensor."""

    type: ClassVar[str] = "convolutional"
    support: ClassVar[Support] = EVERYWHERE

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H', W', output channels)."""
        batch, height, width, _ = inputs[0]
        return ((batch, *self.window.output_size(height, width), self.output_channels),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return one multiply-accumulate per output element, tap and input channel of its group."""
        return math.prod(outputs[0]) * self.window.taps * inputs[0][-1] // self.groups

    def turned(self) -> Self:
        """Return it with a turned window, for costs; the stored weight is unchanged."""
        return self.replace(window=self.window.turned())

    def is_depthwise(self, input_channels: int) -> bool:
        """Return whether every input channel is a group of its own."""
        return self.groups == input_channels and self.groups > 1
