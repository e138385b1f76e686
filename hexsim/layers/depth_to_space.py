"""DepthToSpace: blocks of channels become blocks of pixels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Positive
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support

BlockMode = Literal["DCR", "CRD"]
View = tuple[Shape, tuple[int, ...]]
"""The shape as which a tensor is viewed, and the permutation that moves its elements."""


@dataclass(frozen=True, kw_only=True)
class DepthToSpace(Layer):
    """An NHWC image `block` times as high and wide, with `block`^2 times fewer channels.

    In a pixel's channels the position in the block comes first and the new channel last ("DCR"), or
    the other way round ("CRD", pixel shuffle).
    """

    type: ClassVar[str] = "depth_to_space"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    ranks: ClassVar[tuple[int, ...]] = (4,)
    moves_codes: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True

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
