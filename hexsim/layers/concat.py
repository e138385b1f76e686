"""Concat: tensors joined along one stored axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import LARGEST, Axis
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, HTA, Rule, Support

_CHANNEL_AXIS = 3
"""The channel axis of an image."""
_HTA_CHANNEL_STEP = 32
_HTA_UNEVEN_CHANNELS = 4096


def _not_of_channels(layer: Concat, network: Network) -> bool:
    return layer.axis != len(network.shape(layer.inputs[0])) - 1


def _uneven_and_long(layer: Concat, network: Network) -> bool:
    channels = [network.shape(name)[-1] for name in layer.inputs]
    return (
        any(count % _HTA_CHANNEL_STEP for count in channels)
        and sum(channels) > _HTA_UNEVEN_CHANNELS
    )


@dataclass(frozen=True, kw_only=True)
class Concat(Layer):
    """Joins its inputs along stored axis `axis` (not negative)."""

    type: ClassVar[str] = "concatenation"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
    operands: ClassVar[tuple[int, int]] = (1, LARGEST)
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(HTA, _not_of_channels, "the HTA joins tensors along channels only"),
        Rule(
            HTA,
            _uneven_and_long,
            "the HTA joins at most 4096 channels unless all counts are multiples of 32",
        ),
    )

    axis: Axis

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the first input's shape with the sum of the sizes along `axis`."""
        shape = list(inputs[0])
        for operand in inputs:
            sizes = zip(range(len(shape)), shape, operand, strict=False)
            if len(operand) != len(shape) or any(
                size != other for index, size, other in sizes if index != self.axis
            ):
                raise InvalidDataError(
                    f"operands of the shapes {shape} and {list(operand)} cannot be joined along "
                    f"axis {self.axis}"
                )
        shape[self.axis] = sum(operand[self.axis] for operand in inputs)
        return (tuple(shape),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether there is only one input."""
        return len(inputs) == 1

    def turned(self) -> Self | None:
        """Return itself if it joins channels."""
        return self if self.axis == _CHANNEL_AXIS else None
