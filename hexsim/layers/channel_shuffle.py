"""ChannelShuffle: channels of several groups interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support


@dataclass(frozen=True, kw_only=True)
class ChannelShuffle(Layer):
    """Output channel i * groups + g is input channel g * (channels / groups) + i."""

    type: ClassVar[str] = "channel_shuffle"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True

    groups: int

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)
