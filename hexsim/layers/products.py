"""Convolution: dense, grouped or depthwise, with a fused clamp.

Deconvolution (transposed convolution): every input pixel adds its window to the output.

FullyConnected: a matrix applied to the flattened input.

MatMul: the product of two matrices, or of two batches of matrices, that are operands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Self

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Natural, Positive, Real
from hexsim.graph.ir import ANY_BUT_SCALAR, Layer, NamedShapes, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, GPU, NO_HTA_LAYER, Limit, Support
from hexsim.layers._attribute import of_channels
from hexsim.layers._bases import NO_CLAMP, Clamp, Filtering, Window, broadcast
from hexsim.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Convolution(Filtering):
    """2-D convolution of an NHWC tensor."""

    type: ClassVar[str] = "convolutional"
    support: ClassVar[Support] = EVERYWHERE

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H', W', output channels)."""
        batch, height, width, _ = inputs[0]
        return ((batch, *self.window.output_size(height, width), self.output_channels),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return one multiply-accumulate per output element, tap and input channel of its group."""
        return math.prod(outputs[0]) * self.window.taps * inputs[0][-1] // self.groups

    def turned(self) -> Self:
        """Return it with a turned window, for costs; the stored weight is unchanged."""
        return self.replace(window=self.window.turned())

    def is_depthwise(self, input_channels: int) -> bool:
        """Return whether every input channel is a group of its own."""
        return self.groups == input_channels and self.groups > 1


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
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(
            GPU, _strides_over_its_window, "its stride is larger than its filter (SNPE limitations)"
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


@dataclass(frozen=True, kw_only=True)
class FullyConnected(Layer):
    """Flattens the axes after axis 0, in stored order, and multiplies by `weight`.

    `weight` is (inputs, outputs), its last axis the output channel; `bias` is (outputs,) or None.
    """

    type: ClassVar[str] = "fully_connected"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    weight: str
    bias: str | None = None
    clamp: Clamp = NO_CLAMP
    output_channels: Positive

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, output channels)."""
        return ((inputs[0][0], self.output_channels),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return inputs times outputs, per batch item."""
        return math.prod(inputs[0]) * self.output_channels

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        weight = (math.prod(inputs[0][1:]), self.output_channels)
        return of_channels(weight, self.weight, (self.bias,))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Weight, then bias."""
        return (self.weight,) if self.bias is None else (self.weight, self.bias)


@dataclass(frozen=True, kw_only=True)
class MatMul(Layer):
    """`alpha` times (..., M, K) by (..., K, N), batches broadcast as numpy does.

    If the second operand is `transposed`, it is (..., N, K) as it is stored. A matrix of constant
    weights on the right is a FullyConnected layer.
    """

    type: ClassVar[str] = "matmul"
    support: ClassVar[Support] = NO_HTA_LAYER
    moves_codes: ClassVar[bool] = False
    operands: ClassVar[tuple[int, int]] = (2, 2)

    transposed: bool = False
    alpha: Real = 1.0
    clamp: Clamp = NO_CLAMP

    @property
    def sign(self) -> Sign:
        """That of the inputs, unless the factor changes it."""
        return "signed" if self.alpha < 0 else "as inputs"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (..., M, N)."""
        first, second = inputs
        if min(len(first), len(second)) < 2 or first[-1] != second[-1 if self.transposed else -2]:
            raise InvalidDataError(f"matrices of the shapes {first} and {second} have no product")
        columns = second[-2] if self.transposed else second[-1]
        return ((*broadcast(first[:-2], second[:-2]), first[-2], columns),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return K for each element of the result."""
        return math.prod(outputs[0]) * inputs[0][-1]


Weighted = Filtering | FullyConnected
"""The layers that multiply by quantised weights.

They have a weight with the output channels last, an optional bias, and a clamp.
"""
