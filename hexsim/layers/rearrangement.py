"""Layers that only move elements: Reshape, Permute, ChannelShuffle, DepthToSpace, SpaceToDepth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import AxisOrder, Positive, Sizes
from hexsim.graph.ir import ANY_BUT_SCALAR, Network, Shape
from hexsim.graph.support import EVERYWHERE, HTA, NO_HTA_LAYER, Limit, Support
from hexsim.layers._bases import Rearranging
from hexsim.records import dataclass


def _changes_sizes(layer: Reshape, network: Network) -> bool:
    shapes = (network.shape(layer.inputs[0]), layer.shape)
    before, after = ([size for size in shape if size > 1] for shape in shapes)
    return before != after


@dataclass(frozen=True, kw_only=True)
class Reshape(Rearranging):
    """Flatten, Squeeze, Unsqueeze and Reshape; `shape` is fully known."""

    type: ClassVar[str] = "reshape"
    support: ClassVar[Support] = EVERYWHERE
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(HTA, _changes_sizes, "the HTA takes a reshape only if it adds or drops axes of one"),
    )

    shape: Sizes

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the target shape; InvalidDataError if it has another number of elements."""
        if math.prod(self.shape) != math.prod(inputs[0]):
            raise InvalidDataError(f"cannot reshape {list(inputs[0])} to {list(self.shape)}")
        return (self.shape,)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether the shape is unchanged."""
        return self.shape == inputs[0]


@dataclass(frozen=True, kw_only=True)
class Permute(Rearranging):
    """Output axis i is input axis `permutation[i]`, both stored axes.

    A transpose of the ONNX file, or a change of axis order that the layers around it need.
    """

    type: ClassVar[str] = "permute"
    support: ClassVar[Support] = NO_HTA_LAYER

    permutation: AxisOrder

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the permuted shape."""
        return (tuple(inputs[0][axis] for axis in self.permutation),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether the order is unchanged."""
        return self.permutation == tuple(range(len(self.permutation)))


@dataclass(frozen=True, kw_only=True)
class ChannelShuffle(Rearranging):
    """Output channel i * groups + g is input channel g * (channels / groups) + i."""

    type: ClassVar[str] = "channel_shuffle"
    support: ClassVar[Support] = NO_HTA_LAYER
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    groups: Positive

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the input's shape; InvalidDataError if the groups do not divide the channels."""
        if inputs[0][-1] % self.groups:
            raise InvalidDataError(f"{self.groups} groups do not divide {inputs[0][-1]} channels")
        return (inputs[0],)


BlockMode = Literal["DCR", "CRD"]
View = tuple[Shape, tuple[int, ...]]
"""The shape as which a tensor is viewed, and the permutation that moves its elements."""


@dataclass(frozen=True, kw_only=True)
class DepthToSpace(Rearranging):
    """An NHWC image `block` times as high and wide, with `block`^2 times fewer channels.

    In a pixel's channels the position in the block comes first and the new channel last ("DCR"), or
    the other way round ("CRD", pixel shuffle).
    """

    type: ClassVar[str] = "depth_to_space"
    support: ClassVar[Support] = NO_HTA_LAYER
    ranks: ClassVar[tuple[int, ...]] = (4,)

    block: Positive
    mode: BlockMode = "DCR"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H * block, W * block, C / block^2); InvalidDataError if they do not divide."""
        batch, height, width, channels = inputs[0]
        deep, rest = divmod(channels, self.block**2)
        if rest:
            raise InvalidDataError(
                f"{channels} channels cannot be divided into blocks of {self.block}x{self.block}"
            )
        return ((batch, height * self.block, width * self.block, deep),)

    def view(self, source: Shape) -> View:
        """Return how an input of shape `source` is split, and the permutation to the output."""
        batch, height, width, channels = source
        block, deep = self.block, channels // self.block**2
        if self.mode == "DCR":
            return (batch, height, width, block, block, deep), (0, 1, 3, 2, 4, 5)
        return (batch, height, width, deep, block, block), (0, 1, 4, 2, 5, 3)


@dataclass(frozen=True, kw_only=True)
class SpaceToDepth(Rearranging):
    """An NHWC image 1 / `block` as high and wide, with `block`^2 times the channels.

    In the channels of a result the position in the block comes first ("DCR") or last ("CRD").
    """

    type: ClassVar[str] = "space_to_depth"
    support: ClassVar[Support] = NO_HTA_LAYER
    ranks: ClassVar[tuple[int, ...]] = (4,)

    block: Positive
    mode: BlockMode = "DCR"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H / block, W / block, C * block^2); InvalidDataError if that is not whole."""
        batch, height, width, channels = inputs[0]
        block = self.block
        if height % block or width % block:
            raise InvalidDataError(
                f"an image of {height}x{width} cannot be divided into blocks of {block}x{block}"
            )
        return ((batch, height // block, width // block, channels * block**2),)

    def view(self, source: Shape) -> View:
        """Return how an input of shape `source` is split, and the permutation to the output."""
        batch, height, width, channels = source
        block = self.block
        split = (batch, height // block, block, width // block, block, channels)
        return split, (0, 1, 3, 2, 4, 5) if self.mode == "DCR" else (0, 1, 3, 5, 2, 4)
