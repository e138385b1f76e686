"""Convolution: dense, grouped or depthwise, with a fused clamp."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hexsim.graph.domains import Positive
from hexsim.graph.ir import Layer, NamedShapes, Shape, Sign
from hexsim.graph.support import EVERYWHERE, Support
from hexsim.layers._clamp import NO_CLAMP, Clamp
from hexsim.layers._parameters import of_channels
from hexsim.layers._window import Window


@dataclass(frozen=True, kw_only=True)
class Convolution(Layer):
    """2-D convolution of an NHWC tensor.

    `weight` is (kernel height, kernel width, input channels / groups, output channels), so its
    last axis is the output channel; `bias` is (output channels,) or None. `moments` is
    (2, output channels): the mean and standard deviation that training saw in each channel before
    the clamp, which a batch norm knows; None if there was none.
    """

    type: ClassVar[str] = "convolutional"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "signed"
    ranks: ClassVar[tuple[int, ...]] = (4,)
    moves_codes: ClassVar[bool] = False

    weight: str
    bias: str | None = None
    window: Window
    groups: Positive = 1
    clamp: Clamp = NO_CLAMP
    moments: str | None = None
    output_channels: Positive

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """(N, H', W', output channels)."""
        batch, height, width, _ = inputs[0]
        return ((batch, *self.window.output_size(height, width), self.output_channels),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """One multiply-accumulate per output element, tap and input channel of its group."""
        return math.prod(outputs[0]) * self.window.taps * inputs[0][-1] // self.groups

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """As the class says; ValueError if the groups do not divide the channels."""
        channels = inputs[0][-1]
        if channels % self.groups or self.output_channels % self.groups:
            raise ValueError(
                f"{self.groups} groups do not divide {channels} input channels and "
                f"{self.output_channels} output channels"
            )
        weight = (*self.window.kernel, channels // self.groups, self.output_channels)
        return of_channels(weight, self.weight, (self.bias,), self.moments)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Weight, then bias."""
        return (self.weight,) if self.bias is None else (self.weight, self.bias)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The moments, if they are known."""
        return () if self.moments is None else (self.moments,)

    def turned(self) -> Self:
        """The window turned, for what it costs; the weight stays as it is stored."""
        return self.replace(window=self.window.turned())

    def is_depthwise(self, input_channels: int) -> bool:
        """True if every input channel is its own group."""
        return self.groups == input_channels and self.groups > 1
