"""SpaceToDepth: blocks of pixels become channels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Positive
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.layers.depth_to_space import BlockMode, View


@dataclass(frozen=True, kw_only=True)
class SpaceToDepth(Layer):
    """An NHWC image 1 / `block` as high and wide, with `block`^2 times the channels.

    In the channels of a result the position in the block comes first ("DCR") or last ("CRD").
    """

    type: ClassVar[str] = "space_to_depth"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    ranks: ClassVar[tuple[int, ...]] = (4,)
    moves_codes: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True

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
