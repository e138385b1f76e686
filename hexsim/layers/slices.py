"""Layers that take parts of tensors or join them: StridedSlice, Pad, Tile, Concat, Gather.

A Split of ONNX is one StridedSlice for each of its outputs. A Gather's positions are known before
the network runs: computed ones are integers, which no integer runtime supports, so it stays opaque.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import LARGEST, Axis, Bound, Natural, PerAxis, Positive
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, HTA, NO_HTA_LAYER, Limit, Support
from hexsim.layers._bases import Moving
from hexsim.records import dataclass


@dataclass(frozen=True)
class AxisSlice:
    """Positions start, start + step, ... below `stop` of stored axis `axis`; step is positive."""

    axis: Natural
    start: Natural
    stop: Natural
    step: Positive = 1

    def fault(self) -> str | None:
        """Return a fault if it takes nothing."""
        return None if self.start < self.stop else f"takes nothing from {self.start} to {self.stop}"

    def __str__(self) -> str:
        """Return `axis 3: 0 to 32`, with the step if it is not one."""
        step = f" step {self.step}" if self.step > 1 else ""
        return f"axis {self.axis}: {self.start} to {self.stop}{step}"

    @property
    def size(self) -> int:
        """Number of positions."""
        return -((self.start - self.stop) // self.step)


@dataclass(frozen=True, kw_only=True)
class StridedSlice(Moving):
    """Takes `parts` of its input, at most one per axis; other axes are complete."""

    type: ClassVar[str] = "strided_slice"
    support: ClassVar[Support] = NO_HTA_LAYER

    parts: tuple[AxisSlice, ...]

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape with the sizes of the parts; InvalidDataError for one beyond an axis."""
        shape = list(inputs[0])
        axes = [part.axis for part in self.parts]
        if len(set(axes)) < len(axes) or max(axes, default=-1) >= len(shape):
            raise InvalidDataError(
                f"parts of the axes {axes} asked of a tensor of {len(shape)} axes"
            )
        for part in self.parts:
            if part.stop > shape[part.axis]:
                raise InvalidDataError(
                    f"{part.stop} positions asked of axis {part.axis} of {inputs[0]}"
                )
            shape[part.axis] = part.size
        return (tuple(shape),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether it takes everything."""
        return not self.parts

    def selection(self, rank: int) -> tuple[slice, ...]:
        """Return the parts as one slice for each axis of a tensor of `rank` axes."""
        slices = [slice(None)] * rank
        for part in self.parts:
            slices[part.axis] = slice(part.start, part.stop, part.step)
        return tuple(slices)


PadMode = Literal["constant", "reflect", "edge", "wrap"]


@dataclass(frozen=True, kw_only=True)
class Pad(Layer):
    """Adds `begins[i]` positions before and `ends[i]` after stored axis i.

    They contain `value` ("constant"), the input mirrored at its first or last position, which is
    not repeated ("reflect"), that position ("edge"), or the input repeated ("wrap").
    """

    type: ClassVar[str] = "pad"
    support: ClassVar[Support] = NO_HTA_LAYER

    begins: PerAxis
    ends: PerAxis
    value: Bound = 0.0
    mode: PadMode = "constant"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the input's shape plus the padding."""
        if self.mode != "constant" and 0 in inputs[0]:
            raise InvalidDataError(
                f"an operand of the shape {list(inputs[0])} has nothing to repeat"
            )
        sizes = zip(self.begins, inputs[0], self.ends, strict=True)
        return (tuple(begin + size + end for begin, size, end in sizes),)

    @property
    def sign(self) -> Sign:
        """The added constant may be negative."""
        return "signed" if self.mode == "constant" and self.value < 0 else "as inputs"

    @property
    def moves_codes(self) -> bool:
        """True if it adds its input, or zeros, for which every encoding has a code."""
        return self.mode != "constant" or self.value == 0

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the mode, or "zeros" for zeros."""
        return "zeros" if self.mode == "constant" and self.value == 0 else self.mode

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether it adds nothing."""
        return not any((*self.begins, *self.ends))

    def interior(self, source: Shape) -> tuple[slice, ...]:
        """Return the slices of the output that contain the input, of shape `source`."""
        return tuple(
            slice(begin, begin + size) for begin, size in zip(self.begins, source, strict=True)
        )

    def positions(self, axis: int, size: int) -> tuple[int, ...]:
        """Return the input position of each output position, along stored axis `axis` of `size`.

        Only for modes that add no constant.
        """
        outer = range(-self.begins[axis], size + self.ends[axis])
        if self.mode == "wrap":
            return tuple(place % size for place in outer)
        if self.mode == "edge":
            return tuple(min(max(place, 0), size - 1) for place in outer)
        period = 2 * (size - 1) or 1
        return tuple(min(place % period, -place % period) for place in outer)


@dataclass(frozen=True, kw_only=True)
class Tile(Moving):
    """The input `repeats[i]` times one after another along stored axis i.

    ONNX's Tile, and its Expand: a broadcast repeats axes of size one.
    """

    type: ClassVar[str] = "tile"
    support: ClassVar[Support] = NO_HTA_LAYER

    repeats: PerAxis

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return sizes times repeats."""
        sizes = zip(inputs[0], self.repeats, strict=True)
        return (tuple(size * repeat for size, repeat in sizes),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether nothing is repeated."""
        return all(repeat == 1 for repeat in self.repeats)


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
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(HTA, _not_of_channels, "the HTA joins tensors along channels only"),
        Limit(
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


@dataclass(frozen=True, kw_only=True)
class Gather(Moving):
    """Position i of stored axis `axis` is position `indices[i]` of the input (not negative)."""

    type: ClassVar[str] = "gather"
    support: ClassVar[Support] = NO_HTA_LAYER

    axis: Axis
    indices: tuple[Natural, ...]

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape with as many positions; InvalidDataError if one is beyond the axis."""
        shape = list(inputs[0])
        if max(self.indices, default=0) >= shape[self.axis]:
            raise InvalidDataError(
                f"position {max(self.indices)} asked of axis {self.axis} of {shape}"
            )
        shape[self.axis] = len(self.indices)
        return (tuple(shape),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether it takes all positions in order."""
        return self.indices == tuple(range(inputs[0][self.axis]))
