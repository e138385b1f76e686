"""Tile: a tensor repeated along its axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import PerAxis
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support


@dataclass(frozen=True, kw_only=True)
class Tile(Layer):
    """The input `repeats[i]` times one after another along stored axis i.

    ONNX's Tile, and its Expand: a broadcast repeats axes of size one.
    """

    type: ClassVar[str] = "tile"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True

    repeats: PerAxis

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return sizes times repeats."""
        sizes = zip(inputs[0], self.repeats, strict=True)
        return (tuple(size * repeat for size, repeat in sizes),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether nothing is repeated."""
        return all(repeat == 1 for repeat in self.repeats)
