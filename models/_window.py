"""Window: the sliding window of a convolution or pool, and the arithmetic of its positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hexsim.records import dataclass

from ._weights import FloatArray

KernelSize = int | tuple[int, int]
"""Both sides, or (height, width)."""

Pads = int | tuple[int, int] | tuple[int, int, int, int]
"""All four sides, (height, width), or (top, left, bottom, right)."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window that moves by `stride` over an image widened by `pads`.

    `ceil` keeps a last position that sticks out at the bottom or right.
    """

    kernel: KernelSize
    stride: int = 1
    pads: Pads = 0
    ceil: bool = False

    @classmethod
    def centred(cls, kernel: int, stride: int = 1) -> Window:
        """Return a window of odd size with as much padding on every side, as PyTorch has it."""
        return cls(kernel, stride, pads=kernel // 2)

    @classmethod
    def same(cls, kernel: int, stride: int = 1) -> Window:
        """Return a window with TensorFlow's "same" padding, over an image that `stride` divides.

        The odd pixel is at the bottom and right.
        """
        added = max(kernel - stride, 0)
        before, after = added // 2, added - added // 2
        return cls(kernel, stride, pads=(before, before, after, after))

    @property
    def taps(self) -> tuple[int, int]:
        """Height and width."""
        return self.kernel if isinstance(self.kernel, tuple) else (self.kernel, self.kernel)

    @property
    def sides(self) -> tuple[int, int, int, int]:
        """Padding at the top, left, bottom and right."""
        if isinstance(self.pads, int):
            return self.pads, self.pads, self.pads, self.pads
        return self.pads if len(self.pads) == 4 else (*self.pads, *self.pads)

    @property
    def attributes(self) -> Mapping[str, Sequence[int]]:
        """The attributes that ONNX's convolutions and pools have in common."""
        return {
            "kernel_shape": self.taps,
            "strides": (self.stride, self.stride),
            "pads": self.sides,
        }

    def positions(self, image: Sequence[int]) -> tuple[int, int]:
        """Return the height and width of the output over an image (height, width)."""
        rows, columns = (self._count(axis, size) for axis, size in enumerate(image))
        return rows, columns

    def coverage(self, image: Sequence[int]) -> FloatArray:
        """Return, tap by tap in row order, the share of positions at which it is on the image."""
        rows, columns = (self._covered(axis, size) for axis, size in enumerate(image))
        return np.outer(rows, columns).ravel()

    def _count(self, axis: int, size: int) -> int:
        free = size + self.sides[axis] + self.sides[axis + 2] - self.taps[axis]
        return (free + (self.stride - 1 if self.ceil else 0)) // self.stride + 1

    def _covered(self, axis: int, size: int) -> FloatArray:
        starts = np.arange(self._count(axis, size)) * self.stride - self.sides[axis]
        at = starts + np.arange(self.taps[axis])[:, None]
        covered: FloatArray = ((at >= 0) & (at < size)).mean(axis=1, dtype=np.float32)
        return covered
