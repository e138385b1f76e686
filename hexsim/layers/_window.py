"""The sliding window that convolutions and pooling share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Natural, Positive


@dataclass(frozen=True)
class Window:
    """A 2-D window: (height, width) sizes and steps; `pads` is (top, left, bottom, right)."""

    kernel: tuple[Positive, Positive]
    strides: tuple[Positive, Positive] = (1, 1)
    pads: tuple[Natural, Natural, Natural, Natural] = (0, 0, 0, 0)
    dilations: tuple[Positive, Positive] = (1, 1)
    ceil_mode: bool = False

    @property
    def taps(self) -> int:
        """Number of positions in the window."""
        return self.kernel[0] * self.kernel[1]

    @property
    def reach(self) -> tuple[int, int]:
        """(height, width) of input that one window spans."""
        return (
            (self.kernel[0] - 1) * self.dilations[0] + 1,
            (self.kernel[1] - 1) * self.dilations[1] + 1,
        )

    def turned(self) -> Window:
        """Return the window for images whose height and width are exchanged."""
        top, left, bottom, right = self.pads
        return replace(
            self,
            kernel=self.kernel[::-1],
            strides=self.strides[::-1],
            pads=(left, top, right, bottom),
            dilations=self.dilations[::-1],
        )

    def output_size(self, height: int, width: int) -> tuple[int, int]:
        """Return (height, width) of the output, by the ONNX rule.

        With `ceil_mode` a last window that would start in the end padding is dropped. Raises
        InvalidDataError if the window exceeds the padded image.
        """
        sizes = []
        for axis, size in enumerate((height, width)):
            begin, end = self.pads[axis], self.pads[axis + 2]
            free = size + begin + end - self.reach[axis]
            if free < 0:
                raise InvalidDataError(
                    f"its window spans {self.reach[axis]} pixels of an axis that has "
                    f"{size + begin + end} with its pads"
                )
            step = self.strides[axis]
            count = free // step + 1
            if self.ceil_mode and free % step and count * step < size + begin:
                count += 1
            sizes.append(count)
        return sizes[0], sizes[1]
