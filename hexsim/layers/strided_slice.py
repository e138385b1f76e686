"""StridedSlice: part of a tensor, along one or more stored axes.

Slice and Split of ONNX: a split is one slice for each of its outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Natural, Positive
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support


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
class StridedSlice(Layer):
    """Takes `parts` of its input, at most one per axis; other axes are complete."""

    type: ClassVar[str] = "strided_slice"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True

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
