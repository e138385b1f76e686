"""The base class of layers that slide a window of weights over an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Positive
from hexsim.graph.ir import Layer, NamedShapes, Shape, Sign
from hexsim.layers._clamp import NO_CLAMP, Clamp
from hexsim.layers._parameters import of_channels
from hexsim.layers._window import Window


@dataclass(frozen=True, kw_only=True)
class Filtering(Layer):
    """A window of weights over an NHWC tensor, dense, grouped or depthwise, with a fused clamp.

    `weight` is (kernel height, kernel width, input channels / groups, output channels), so its
    last axis is the output channel; `bias` is (output channels,) or None. `moments` is
    (2, output channels): the mean and standard deviation of each channel before the clamp during
    training, from a batch norm; None without one.
    """

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

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class; InvalidDataError if the groups do not divide the channels."""
        channels = inputs[0][-1]
        if channels % self.groups or self.output_channels % self.groups:
            raise InvalidDataError(
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
