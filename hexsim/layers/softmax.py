"""Softmax along one stored axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import Axes
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, INTEGER, Rule, Support


def _not_last(layer: Softmax, network: Network) -> bool:
    inner = network.shape(layer.inputs[0])[max(layer.axes) + 1 :]
    return any(size > 1 for size in inner)


@dataclass(frozen=True, kw_only=True)
class Softmax(Layer):
    """exp(x) over its sum along the stored axes `axes` (old ONNX opsets flatten several)."""

    type: ClassVar[str] = "softmax"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "unsigned"
    moves_codes: ClassVar[bool] = False
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(INTEGER, _not_last, "Softmax is supported along the last axis only"),
    )

    axes: Axes

    def fault(self) -> str | None:
        """Return a fault if it has no axis."""
        return None if self.axes else "field 'axes' names no axis"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of the input."""
        return (inputs[0],)
