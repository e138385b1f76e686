"""ChannelShuffle: channels of several groups interleaved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Positive
from hexsim.graph.ir import ANY_BUT_SCALAR, Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support


@dataclass(frozen=True, kw_only=True)
class ChannelShuffle(Layer):
    """Output channel i * groups + g is input channel g * (channels / groups) + i."""

    type: ClassVar[str] = "channel_shuffle"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    groups: Positive

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the input's shape; InvalidDataError if the groups do not divide the channels."""
        if inputs[0][-1] % self.groups:
            raise InvalidDataError(f"{self.groups} groups do not divide {inputs[0][-1]} channels")
        return (inputs[0],)
