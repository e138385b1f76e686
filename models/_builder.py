"""Builder: writes a network down layer by layer, as its paper or prototxt does.

Every method adds one ONNX node, names the node's output tensor like the node, and returns that
name. The builder follows shapes (NCHW) and expected moments, so that it knows the size of each
weight and the scale at which to draw it, without drawing it.

Every bias, and every batch norm, subtracts what its layer answers to the expected means of its
inputs. Otherwise that answer, the same for every input, would grow from layer to layer until
every input got the same class.

Left out: anything the benchmark networks do not use (dilation, transposed convolution, ...).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from hexsim.records import dataclass

from ._built import BuiltModel
from ._filters import Filters
from ._moments import Moments, joined
from ._onnx import Attribute, Initializer, Node, assemble
from ._weights import FloatArray, around, channel_scales, filters, generator
from ._window import KernelSize, Pads, Window

LIFT = 1.0
"""Mean of a layer's outputs in standard deviations (assumed).

A ReLU after it then passes most values unchanged. Of normal values about zero, a ReLU and the
next layer of centred filters amplify small differences, such as rounding errors, 1.47 times in
variance relative to the signal; of values about one standard deviation, 1.12 times.
"""

LOGIT_STD = 3.0
"""Standard deviation of logits, so that of 1000 classes the best few share the softmax."""

LRN_STD = 50.0
"""Standard deviation before LRN: as in nets fed 0 to 255, large enough for LRN to act."""

LRN_ALPHA, LRN_BETA = 1e-4, 0.75
"""Constants of LRN in AlexNet and GoogLeNet."""


def _sigmoid(values: FloatArray) -> FloatArray:
    shares: FloatArray = np.reciprocal(1 + np.exp(-values))
    return shares


@dataclass(frozen=True, slots=True)
class _Weight:
    """What is asked of a weight: shape (outputs, inputs per group, taps...), output deviation."""

    shape: tuple[int, ...]
    std: float
    groups: int = 1


class Builder:
    """One network under construction, with one input of mean 0 and standard deviation 1."""

    def __init__(self, network: str, input_name: str, shape: tuple[int, ...]) -> None:
        """Start network `network` with one float32 input of `shape` (NCHW)."""
        channels = shape[1]
        self._network = network
        self._input = input_name
        self._nodes: list[Node] = []
        self._initializers: dict[str, Initializer] = {}
        self._shapes = {input_name: shape}
        self._moments = {
            input_name: Moments(np.zeros(channels, np.float32), np.ones(channels, np.float32))
        }
        self._drawn: dict[str, Filters] = {}

    def channels(self, x: str) -> int:
        """Return the number of channels of tensor `x`."""
        return self._shapes[x][1]

    def height(self, x: str) -> int:
        """Return the rows of the image of tensor `x`."""
        return self._shapes[x][2]

    def finish(self, *outputs: str) -> BuiltModel:
        """Return the finished network, whose outputs are `outputs`."""
        shapes = [
            {name: self._shapes[name] for name in names} for names in ((self._input,), outputs)
        ]
        return assemble(self._network, self._nodes, self._initializers, *shapes)

    # Layers with weights.

    def conv(
        self,
        x: str,
        name: str,
        channels: int,
        window: KernelSize | Window,
        *,
        groups: int = 1,
        bias: bool = True,
        std: float = 1.0,
    ) -> str:
        """Convolve; the weights are scaled so that outputs have standard deviation `std`.

        A kernel alone is a window that moves by 1 over an image without padding.
        """
        batch, in_channels, *image = self._shapes[x]
        window = window if isinstance(window, Window) else Window(window)
        weight = _Weight((channels, in_channels // groups, *window.taps), std, groups)
        inputs, moments = self._filters(x, name, weight, window.coverage(image), bias=bias)
        shape = (batch, channels, *window.positions(image))
        attributes = window.attributes
        return self._add("Conv", name, (x, *inputs), shape, moments, group=groups, **attributes)

    def fully_connected(self, x: str, name: str, outputs: int, *, std: float = 1.0) -> str:
        """Multiply rows by a transposed weight matrix, add a bias; `std` as for `conv`."""
        batch, features = self._shapes[x]
        weight = _Weight((outputs, features), std)
        inputs, moments = self._filters(x, name, weight, np.ones(1, np.float32), bias=True)
        return self._add("Gemm", name, (x, *inputs), (batch, outputs), moments, transB=1)

    def batch_norm(self, x: str, name: str, *, gamma: float = 1.0, epsilon: float = 1e-5) -> str:
        """Normalise the outputs of a convolution without bias; `gamma` is the mean scale."""
        size = self.channels(x)
        filters_before = self._drawn[x]
        scale = around(self._generator(f"{name}.weight"), size, gamma)
        shift = around(self._generator(f"{name}.bias"), size, LIFT * gamma)
        inputs = (
            self._initialize(f"{name}.weight", (size,), lambda: scale),
            self._initialize(f"{name}.bias", (size,), lambda: shift),
            self._initialize(f"{name}.running_mean", (size,), filters_before.promised("mean")),
            self._initialize(f"{name}.running_var", (size,), filters_before.promised("variance")),
        )
        moments = Moments(shift, scale)
        shape = self._shapes[x]
        return self._add("BatchNormalization", name, (x, *inputs), shape, moments, epsilon=epsilon)

    # Layers without weights.

    def relu(self, x: str, name: str) -> str:
        """Apply max(x, 0)."""
        return self._add("Relu", name, (x,), self._shapes[x], self._moments[x].relu())

    def relu6(self, x: str, name: str) -> str:
        """Apply min(max(x, 0), 6)."""
        low = self._initialize("relu6.min", (), lambda: np.array(0, np.float32))
        high = self._initialize("relu6.max", (), lambda: np.array(6, np.float32))
        return self._add("Clip", name, (x, low, high), self._shapes[x], self._moments[x].relu())

    def hard_sigmoid(self, x: str, name: str) -> str:
        """Apply min(max(x / 6 + 1/2, 0), 1)."""
        moments = self._moments[x].hard_sigmoid()
        slope = {"alpha": 1 / 6, "beta": 0.5}
        return self._add("HardSigmoid", name, (x,), self._shapes[x], moments, **slope)

    def hard_swish(self, x: str, name: str) -> str:
        """Multiply by the hard sigmoid, in two nodes: opset 13 has no HardSwish."""
        gate, moments = self.hard_sigmoid(x, f"{name}.gate"), self._moments[x].hard_swish()
        return self._add("Mul", name, (x, gate), self._shapes[x], moments)

    def sigmoid(self, x: str, name: str) -> str:
        """Apply 1 / (1 + exp(-x))."""
        return self._add("Sigmoid", name, (x,), self._shapes[x], self._moments[x].mapped(_sigmoid))

    def silu(self, x: str, name: str) -> str:
        """Multiply by the sigmoid, in two nodes: opset 13 has no Swish."""
        gate = self.sigmoid(x, f"{name}.sigmoid")
        moments = self._moments[x].mapped(lambda values: values * _sigmoid(values))
        return self._add("Mul", name, (x, gate), self._shapes[x], moments)

    def max_pool(
        self, x: str, name: str, kernel: int, stride: int, *, pads: Pads = 0, ceil: bool = False
    ) -> str:
        """Take the maximum of each window; `ceil` keeps a last window that sticks out."""
        batch, channels, *image = self._shapes[x]
        window = Window(kernel, stride, pads, ceil)
        return self._add(
            "MaxPool",
            name,
            (x,),
            (batch, channels, *window.positions(image)),
            self._moments[x],
            ceil_mode=int(ceil),
            **window.attributes,
        )

    def average_pool(self, x: str, name: str, kernel: int, *, pads: Pads = 0) -> str:
        """Take the mean of each window at stride 1, padding counted as zeros."""
        batch, channels, *image = self._shapes[x]
        window = Window(kernel, pads=pads)
        return self._add(
            "AveragePool",
            name,
            (x,),
            (batch, channels, *window.positions(image)),
            self._moments[x].averaged(kernel * kernel),
            count_include_pad=1,
            **window.attributes,
        )

    def global_average_pool(self, x: str, name: str) -> str:
        """Take the mean of each channel."""
        batch, channels, height, width = self._shapes[x]
        moments = self._moments[x].averaged(height * width)
        return self._add("GlobalAveragePool", name, (x,), (batch, channels, 1, 1), moments)

    def local_response_norm(self, x: str, name: str) -> str:
        """Divide by a power of the sum of squares over 5 channels."""
        before = self._moments[x]
        moments = before.scaled((1 + LRN_ALPHA * before.power) ** -LRN_BETA)
        constants = {"size": 5, "alpha": LRN_ALPHA, "beta": LRN_BETA, "bias": 1.0}
        return self._add("LRN", name, (x,), self._shapes[x], moments, **constants)

    def concat(self, xs: Sequence[str], name: str) -> str:
        """Join along channels."""
        batch, _, *image = self._shapes[xs[0]]
        shape = (batch, sum(map(self.channels, xs)), *image)
        moments = joined([self._moments[x] for x in xs])
        return self._add("Concat", name, tuple(xs), shape, moments, axis=1)

    def add(self, x: str, y: str, name: str) -> str:
        """Add two tensors of one shape."""
        moments = self._moments[x].plus(self._moments[y])
        return self._add("Add", name, (x, y), self._shapes[x], moments)

    def gate(self, x: str, y: str, name: str) -> str:
        """Multiply each channel of `x` by its one value in `y`."""
        moments = self._moments[x].times(self._moments[y])
        return self._add("Mul", name, (x, y), self._shapes[x], moments)

    def standardise(
        self, x: str, name: str, mean: Sequence[float], deviation: Sequence[float]
    ) -> str:
        """Subtract each channel's `mean`, then divide by its `deviation`."""
        offsets, scales = (np.array(values, np.float32) for values in (mean, deviation))
        shape, before = self._shapes[x], self._moments[x]
        centred = Moments(before.mean - offsets, before.std)
        operand = self._per_channel(f"{name}.mean", offsets)
        x = self._add("Sub", f"{name}.sub", (x, operand), shape, centred)
        operand = self._per_channel(f"{name}.deviation", scales)
        return self._add("Div", name, (x, operand), shape, centred.scaled(np.reciprocal(scales)))

    def lone_batch_norm(self, x: str, name: str) -> str:
        """Normalise what no convolution made: a factor and a summand per channel."""
        before, size = self._moments[x], self.channels(x)
        gamma = around(self._generator(f"{name}.weight"), size, 1.0)
        beta = around(self._generator(f"{name}.bias"), size, LIFT)
        factor = gamma / before.std
        operand = self._per_channel(f"{name}.factor", factor)
        x = self._add("Mul", f"{name}.mul", (x, operand), self._shapes[x], before.scaled(factor))
        operand = self._per_channel(f"{name}.shift", beta - before.mean * factor)
        return self._add("Add", name, (x, operand), self._shapes[x], Moments(beta, gamma))

    def rescale(self, x: str, name: str, factor: float, shift: float) -> str:
        """Multiply every element by `factor`, then add `shift`."""
        before = self._moments[x].scaled(factor)
        scale = self._scalar(f"{name}.factor", factor)
        x = self._add("Mul", f"{name}.mul", (x, scale), self._shapes[x], before)
        moved = Moments(before.mean + np.float32(shift), before.std)
        return self._add(
            "Add", name, (x, self._scalar(f"{name}.shift", shift)), self._shapes[x], moved
        )

    def flatten(self, x: str, name: str) -> str:
        """Make one row per image."""
        batch, channels, *image = self._shapes[x]
        pixels = math.prod(image)
        moments = self._moments[x].flattened(pixels)
        return self._add("Flatten", name, (x,), (batch, channels * pixels), moments, axis=1)

    def dropout(self, x: str, name: str) -> str:
        """Do nothing, as dropout does at inference."""
        return self._add("Dropout", name, (x,), self._shapes[x], self._moments[x])

    def softmax(self, x: str, name: str) -> str:
        """Turn logits into probabilities along axis 1; nothing with weights may follow."""
        return self._add("Softmax", name, (x,), self._shapes[x], self._moments[x], axis=1)

    # How it is done.

    def _add(
        self,
        op: str,
        name: str,
        inputs: tuple[str, ...],
        shape: tuple[int, ...],
        moments: Moments,
        **attributes: Attribute,
    ) -> str:
        if name in self._shapes:
            raise ValueError(f"{self._network}: two tensors named {name}")
        self._nodes.append(Node(op, name, inputs, attributes))
        self._shapes[name] = shape
        self._moments[name] = moments
        return name

    def _initialize(self, name: str, shape: tuple[int, ...], make: Callable[[], FloatArray]) -> str:
        self._initializers[name] = Initializer(shape, make)
        return name

    def _scalar(self, name: str, value: float) -> str:
        return self._initialize(name, (1,), lambda: np.array([value], np.float32))

    def _per_channel(self, name: str, values: FloatArray) -> str:
        shape = (1, values.size, 1, 1)
        return self._initialize(name, shape, lambda: values.reshape(shape))

    def _generator(self, tensor: str) -> np.random.Generator:
        return generator(self._network, tensor)

    def _filters(
        self, x: str, name: str, weight: _Weight, coverage: FloatArray, *, bias: bool
    ) -> tuple[tuple[str, ...], Moments]:
        """Promise a weight and perhaps a bias; return their names and the outputs' moments.

        `coverage` is that of `Moments.response_mean`.
        """
        before, outputs = self._moments[x], weight.shape[0]
        tap_std = weight.std / math.sqrt(
            math.prod(weight.shape[1:]) * float(np.mean(np.square(before.std)))
        )
        scales = channel_scales(self._generator(f"{name}.scale"), outputs)

        def draw() -> FloatArray:
            return filters(self._generator(f"{name}.weight"), weight.shape, tap_std, scales)

        drawn = self._drawn[name] = Filters(draw, before, weight.groups, coverage)
        weight_name = self._initialize(f"{name}.weight", weight.shape, drawn.weight)
        if not bias:
            return (weight_name,), Moments(np.zeros(outputs, np.float32), weight.std * scales)
        wanted = scales * around(self._generator(f"{name}.bias"), outputs, LIFT * weight.std)
        mean_answer = drawn.promised("mean")
        bias_name = self._initialize(f"{name}.bias", (outputs,), lambda: wanted - mean_answer())
        return (weight_name, bias_name), Moments(wanted, weight.std * scales)
