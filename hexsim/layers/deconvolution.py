"""Deconvolution (transposed convolution): every input pixel adds its window to the output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Natural
from hexsim.graph.ir import Network, Shape
from hexsim.graph.support import EVERYWHERE, GPU, Rule, Support
from hexsim.layers._filtering import Filtering
from hexsim.layers._window import Window


@dataclass(frozen=True)
class Phases:
    """A deconvolution as one convolution of stride one.

    Output positions whole strides apart use the same taps and form a phase; there are `counts`
    (height, width) phases. A convolution with `window` computes all phases as separate groups of
    channels. Interleaved they are the output, after the first `crop` rows and columns and those
    beyond its size are removed.
    """

    window: Window
    counts: tuple[int, int]
    crop: tuple[int, int]

    @property
    def number(self) -> int:
        """Number of phases."""
        return math.prod(self.counts)


def _strides_over_its_window(layer: Deconvolution, network: Network) -> bool:
    window = layer.window
    return any(step > size for step, size in zip(window.strides, window.kernel, strict=True))


@dataclass(frozen=True, kw_only=True)
class Deconvolution(Filtering):
    """2-D transposed convolution of an NHWC tensor.

    Input pixel i adds to the positions i * stride + tap * dilation - pad; `window.pads` crop the
    result and `output_padding` (height, width) extends it at the end. The weight is not flipped.
    Pads are smaller than the window's reach.
    """

    type: ClassVar[str] = "deconvolution"
    support: ClassVar[Support] = EVERYWHERE
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(
            GPU,
            _strides_over_its_window,
            "its stride is larger than its filter (SNPE limitations)",
        ),
    )

    output_padding: tuple[Natural, Natural] = (0, 0)

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H', W', output channels)."""
        batch, height, width, _ = inputs[0]
        window = self.window
        if any(pad >= window.reach[at % 2] for at, pad in enumerate(window.pads)):
            raise InvalidDataError(f"pads {window.pads} are not smaller than its window's reach")
        return ((batch, *self._size(height, width), self.output_channels),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return one multiply-accumulate per input element, tap and output channel of its group."""
        return math.prod(inputs[0]) * self.window.taps * self.output_channels // self.groups

    def phases(self, height: int, width: int) -> Phases:
        """Return the convolution that computes it for an image of that size."""
        window = self.window
        kernel, begins, ends, crop = [], [], [], []
        for axis, (size, out) in enumerate(
            zip((height, width), self._size(height, width), strict=True)
        ):
            step, begin = window.strides[axis], window.pads[axis]
            taps = -(-window.reach[axis] // step)
            kernel.append(taps)
            begins.append(taps - 1 - begin // step)
            ends.append((begin + out - 1) // step - (size - 1))
            crop.append(begin % step)
        return Phases(
            Window((kernel[0], kernel[1]), pads=(begins[0], begins[1], ends[0], ends[1])),
            window.strides,
            (crop[0], crop[1]),
        )

    def _size(self, height: int, width: int) -> tuple[int, int]:
        """Return (height, width) of the output, by the ONNX rule."""
        window = self.window
        sizes = [
            (size - 1) * window.strides[axis]
            + window.reach[axis]
            - window.pads[axis]
            - window.pads[axis + 2]
            + self.output_padding[axis]
            for axis, size in enumerate((height, width))
        ]
        return sizes[0], sizes[1]
