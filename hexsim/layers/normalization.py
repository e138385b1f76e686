"""Normalization: elements over their root mean square, root of the sum of squares, or deviation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Axes, Real
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import INTEGER, NO_HTA_LAYER, Rule, Support
from hexsim.layers._clamp import NO_CLAMP, Clamp

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
class Normalization(Layer):
    """One of KINDS along the stored axes `axes`, then times `scale`, plus `shift`.

    Both are constants that broadcast to the input as numpy does; None stands for 1 and 0. The root
    counts as `floor` where it is smaller.
    """

    type: ClassVar[str] = "normalization"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(INTEGER, _too_many, f"it normalises more than {MOST} elements at a time"),
    )

    kind: NormalizationKind
    axes: Axes
    epsilon: Real
    floor: Real = 0.0
    scale: str | None = None
    shift: str | None = None
    clamp: Clamp = NO_CLAMP

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of the input."""
        return (inputs[0],)

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
