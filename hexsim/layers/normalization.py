"""Normalization: elements over their root mean square, root of the sum of squares, or deviation.

BatchNorm: a scale and shift per channel that no convolution could absorb.

LocalResponseNorm: normalisation across neighbouring channels (CMRN).

Softmax along one stored axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Axes, Positive, Real
from hexsim.graph.ir import ANY_BUT_SCALAR, NamedShapes, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, INTEGER, NO_HTA_LAYER, Limit, Support
from hexsim.layers._attribute import of_channels
from hexsim.layers._bases import NO_CLAMP, Clamp, PerPixel, SameShape
from hexsim.records import dataclass

NormalizationKind = Literal["deviation", "mean_square", "length"]

KINDS: Mapping[NormalizationKind, str] = {
    "deviation": "(x - mean) / sqrt(variance + epsilon)",
    "mean_square": "x / sqrt(mean of x^2 + epsilon)",
    "length": "x / sqrt(sum of x^2 + epsilon)",
}
"""The formula of each kind: the first for layer, instance and group norms, then RMS and L2."""

MOST = 1 << 22
"""The most elements of a statistic, so that the contract's numbers fit 32 and 64 bits."""


def _too_many(layer: Normalization, network: Network) -> bool:
    shape = network.shape(layer.inputs[0])
    return layer.count(shape) > MOST


@dataclass(frozen=True, kw_only=True)
class Normalization(SameShape):
    """One of KINDS along the stored axes `axes`, then times `scale`, plus `shift`.

    Both are constants that broadcast to the input as numpy does; None stands for 1 and 0. The root
    counts as `floor` where it is smaller.
    """

    type: ClassVar[str] = "normalization"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(INTEGER, _too_many, f"it normalises more than {MOST} elements at a time"),
    )

    kind: NormalizationKind
    axes: Axes
    epsilon: Real
    floor: Real = 0.0
    scale: str | None = None
    shift: str | None = None
    clamp: Clamp = NO_CLAMP

    def fault(self) -> str | None:
        """Return a fault if it has no axes for its statistics."""
        return None if self.axes else "field 'axes' names no axis"

    def require_parameters(self, inputs: Sequence[Shape], shapes: Mapping[str, Shape]) -> None:
        """Raise InvalidDataError unless they broadcast to the input."""
        for name in self.parameters:
            if len(shapes[name]) > len(inputs[0]) or not all(
                size in (1, axis_size)
                for size, axis_size in zip(shapes[name][::-1], inputs[0][::-1], strict=False)
            ):
                raise InvalidDataError(
                    f"constant '{name}' of the shape {list(shapes[name])} does not broadcast to "
                    f"its operand of the shape {list(inputs[0])}"
                )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Scale, then shift."""
        return tuple(name for name in (self.scale, self.shift) if name is not None)

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return its usual name: l2, rms, instance, layer (over the last axes), or else group."""
        last = len(inputs[0]) - 1
        if self.kind != "deviation":
            return {"length": "l2", "mean_square": "rms"}[self.kind]
        if self.axes == tuple(range(1, last)):
            return "instance"
        return "layer" if self.axes == tuple(range(self.axes[0], last + 1)) else "group"

    def count(self, shape: Shape) -> int:
        """Return the number of elements of an input of `shape` that share a statistic."""
        return math.prod(shape[axis] for axis in self.axes)


_IMAGE_AXES = 4


@dataclass(frozen=True, kw_only=True)
class BatchNorm(PerPixel):
    """scale * x + shift; both are (channels,) along the last stored axis.

    `moments` is (2, channels): the mean and standard deviation of each channel of the result before
    the clamp during training; None if unknown.
    """

    type: ClassVar[str] = "batchnorm"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    scale: str
    shift: str
    clamp: Clamp = NO_CLAMP
    moments: str | None = None

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return 1-D for vectors and 1-D images."""
        return "1-D" if len(inputs[0]) < _IMAGE_AXES else ""

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        return of_channels(inputs[0][-1:], self.scale, (self.shift,), self.moments)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Scale, then shift."""
        return (self.scale, self.shift)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The moments, if they are known."""
        return () if self.moments is None else (self.moments,)


@dataclass(frozen=True, kw_only=True)
class LocalResponseNorm(PerPixel):
    """y = x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta.

    The window is the ONNX one: from c - floor((size-1)/2) to c + ceil((size-1)/2).
    """

    type: ClassVar[str] = "cmrn"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    size: Positive
    alpha: Real
    beta: Real
    bias: Real


def _not_last(layer: Softmax, network: Network) -> bool:
    inner = network.shape(layer.inputs[0])[max(layer.axes) + 1 :]
    return any(size > 1 for size in inner)


@dataclass(frozen=True, kw_only=True)
class Softmax(SameShape):
    """exp(x) over its sum along the stored axes `axes` (old ONNX opsets flatten several)."""

    type: ClassVar[str] = "softmax"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "unsigned"
    moves_codes: ClassVar[bool] = False
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(INTEGER, _not_last, "Softmax is supported along the last axis only"),
    )

    axes: Axes

    def fault(self) -> str | None:
        """Return a fault if it has no axis."""
        return None if self.axes else "field 'axes' names no axis"
