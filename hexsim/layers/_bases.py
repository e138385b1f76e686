"""Base classes of layers: with a sliding window, per pixel, or moving elements alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Bound, Natural, Positive
from hexsim.graph.ir import Layer, NamedShapes, Shape, Sign
from hexsim.layers._attribute import of_channels
from hexsim.records import dataclass, replace


@dataclass(frozen=True)
class Window:
    """A 2-D window: (height, width) sizes and steps; `pads` is (top, left, bottom, right)."""

    kernel: tuple[Positive, Positive]
    strides: tuple[Positive, Positive] = (1, 1)
    pads: tuple[Natural, Natural, Natural, Natural] = (0, 0, 0, 0)
    dilations: tuple[Positive, Positive] = (1, 1)
    ceil_mode: bool = False

    @property
    def taps(self) -> int:
        """Number of positions in the window."""
        return self.kernel[0] * self.kernel[1]

    @property
    def reach(self) -> tuple[int, int]:
        """(height, width) of input that one window spans."""
        return (
            (self.kernel[0] - 1) * self.dilations[0] + 1,
            (self.kernel[1] - 1) * self.dilations[1] + 1,
        )

    def turned(self) -> Window:
        """Return the window for images whose height and width are exchanged."""
        top, left, bottom, right = self.pads
        return replace(
            self,
            kernel=self.kernel[::-1],
            strides=self.strides[::-1],
            pads=(left, top, right, bottom),
            dilations=self.dilations[::-1],
        )

    def output_size(self, height: int, width: int) -> tuple[int, int]:
        """Return (height, width) of the output, by the ONNX rule.

        With `ceil_mode` a last window that would start in the end padding is dropped. Raises
        InvalidDataError if the window exceeds the padded image.
        """
        sizes = []
        for axis, size in enumerate((height, width)):
            begin, end = self.pads[axis], self.pads[axis + 2]
            free = size + begin + end - self.reach[axis]
            if free < 0:
                raise InvalidDataError(
                    f"its window spans {self.reach[axis]} pixels of an axis that has "
                    f"{size + begin + end} with its pads"
                )
            step = self.strides[axis]
            count = free // step + 1
            if self.ceil_mode and free % step and count * step < size + begin:
                count += 1
            sizes.append(count)
        return sizes[0], sizes[1]


@dataclass(frozen=True)
class Clamp:
    """Real bounds of an output; infinite where it is not limited."""

    low: Bound = -math.inf
    high: Bound = math.inf

    def fault(self) -> str | None:
        """Return a fault if its bounds exclude all values."""
        return None if self.low <= self.high else f"clamps to {self.low:g} .. {self.high:g}"

    def then(self, other: Clamp) -> Clamp:
        """Return the clamp that applies this one and then `other`."""
        return Clamp(
            min(max(self.low, other.low), other.high), max(min(self.high, other.high), other.low)
        )

    @property
    def limits(self) -> bool:
        """True if it can change a value."""
        return math.isfinite(self.low) or math.isfinite(self.high)


NO_CLAMP = Clamp()
RELU = Clamp(low=0.0)
RELU6 = Clamp(0.0, 6.0)


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


class SameShape(Layer):
    """The output has the shape of the input."""

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of the input."""
        return (inputs[0],)


class PerPixel(SameShape):
    """No axis but the last has a special meaning."""

    def turned(self) -> Self:
        """Return itself."""
        return self


class Moving(Layer):
    """The output consists of elements of the input."""

    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True


class Rearranging(Moving):
    """The output has each element of the input once."""

    rearranges: ClassVar[bool] = True


def broadcast(*shapes: Shape) -> Shape:
    """Return the common shape of operands; InvalidDataError if they have none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        listed = " and ".join(str(list(shape)) for shape in shapes)
        raise InvalidDataError(f"operands of the shapes {listed} do not broadcast") from error
