"""Builder: writes a network down layer by layer, as its paper or prototxt does.

Every method adds one ONNX node (opset 13), names the node's output tensor like the node, and
returns that name. The builder follows shapes (NCHW) and expected moments, so that it knows the
size of each weight and the scale at which to draw it, without drawing it. onnx itself is only
imported by `finish`.

Left out: anything the benchmark networks do not use (dilation, transposed convolution, ...).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ._built import LOCATION, BuiltModel
from ._moments import Moments, mixture
from ._weights import FloatArray, around, channel_scales, filters, generator

Pads = int | tuple[int, int] | tuple[int, int, int, int]
"""All four sides, (height, width), or (top, left, bottom, right)."""

INLINE_VALUES = 64
"""Initialisers of at most this many values are stored in the model at once."""

NEIGHBOUR_CORRELATION = 0.5
"""Correlation of neighbouring pixels of one channel (assumed; sets depthwise statistics)."""

LOGIT_STD = 3.0
"""Standard deviation of logits, so that of 1000 classes the best few share the softmax."""

LRN_STD = 50.0
"""Standard deviation before LRN: as in nets fed 0 to 255, large enough for LRN to act."""

LRN_ALPHA, LRN_BETA = 1e-4, 0.75


@dataclass(frozen=True, slots=True)
class _Node:
    op: str
    name: str
    inputs: tuple[str, ...]
    attributes: dict[str, int | float | Sequence[int]]


@dataclass(frozen=True, slots=True)
class _Initialiser:
    shape: tuple[int, ...]
    make: Callable[[], FloatArray]


Statistics = Callable[[], tuple[FloatArray, FloatArray]]
"""Makes the expected mean and variance of each channel."""


class Builder:
    """One network under construction, with one image-like input of mean 0 and deviation 1."""

    def __init__(self, network: str, input_name: str, shape: tuple[int, ...]) -> None:
        """Start network `network` with one float32 input of `shape` (NCHW)."""
        self._network = network
        self._input = input_name
        self._nodes: list[_Node] = []
        self._initialisers: dict[str, _Initialiser] = {}
        self._shapes = {input_name: shape}
        self._moments = {input_name: Moments(0.0, 1.0)}
        self._statistics: dict[str, Statistics] = {}

    def channels(self, x: str) -> int:
        """Return the number of channels of tensor `x`."""
        return self._shapes[x][1]

    # Layers with weights.

    def conv(
        self,
        x: str,
        name: str,
        channels: int,
        kernel: int | tuple[int, int],
        *,
        stride: int = 1,
        pads: Pads = 0,
        groups: int = 1,
        bias: bool = True,
        std: float = 1.0,
    ) -> str:
        """Convolve; the weights are scaled so that outputs have standard deviation `std`."""
        taps = (kernel, kernel) if isinstance(kernel, int) else kernel
        batch, in_channels, *_ = self._shapes[x]
        weight = (channels, in_channels // groups, *taps)
        inputs = self._filters(x, name, weight, bias=bias, std=std)
        sides = _sides(pads)
        height, width = self._window(x, taps, stride, sides, ceil=False)
        return self._add(
            "Conv",
            name,
            (x, *inputs),
            (batch, channels, height, width),
            Moments(0.0, std),
            kernel_shape=taps,
            strides=(stride, stride),
            pads=sides,
            group=groups,
        )

    def fully_connected(self, x: str, name: str, outputs: int, *, std: float = 1.0) -> str:
        """Multiply a matrix of rows by the transposed weight matrix and add a bias."""
        batch, features = self._shapes[x]
        inputs = self._filters(x, name, (outputs, features), bias=True, std=std)
        return self._add("Gemm", name, (x, *inputs), (batch, outputs), Moments(0.0, std), transB=1)

    def batch_norm(self, x: str, name: str, *, gamma: float = 1.0, epsilon: float = 1e-5) -> str:
        """Normalise a convolution's outputs by their expected statistics; `gamma` is the mean."""
        size = self.channels(x)
        statistics = self._statistics[x]

        def drawn(suffix: str, centre: float, std: float) -> None:
            tensor = f"{name}.{suffix}"
            rng = self._generator(tensor)
            self._initialise(tensor, (size,), lambda: around(rng(), size, centre, std))

        drawn("weight", gamma, 0.1 * gamma)
        drawn("bias", 0.0, 0.1 * gamma)
        self._initialise(f"{name}.running_mean", (size,), lambda: statistics()[0])
        self._initialise(f"{name}.running_var", (size,), lambda: statistics()[1])
        suffixes = ("weight", "bias", "running_mean", "running_var")
        return self._add(
            "BatchNormalization",
            name,
            (x, *(f"{name}.{suffix}" for suffix in suffixes)),
            self._shapes[x],
            Moments(0.0, gamma),
            epsilon=epsilon,
        )

    # Layers without weights.

    def relu(self, x: str, name: str) -> str:
        """Apply max(x, 0)."""
        return self._add("Relu", name, (x,), self._shapes[x], self._moments[x].relu())

    def relu6(self, x: str, name: str) -> str:
        """Apply min(max(x, 0), 6); the moments are those of a plain ReLU."""
        for bound, value in (("relu6.min", 0.0), ("relu6.max", 6.0)):
            self._initialise(bound, (), lambda value=value: np.array(value, np.float32))
        inputs = (x, "relu6.min", "relu6.max")
        return self._add("Clip", name, inputs, self._shapes[x], self._moments[x].relu())

    def max_pool(
        self,
        x: str,
        name: str,
        kernel: int,
        stride: int,
        *,
        pads: Pads = 0,
        ceil: bool = False,
    ) -> str:
        """Take the maximum of each window; `ceil` keeps windows that begin inside and end out."""
        return self._pool("MaxPool", x, name, kernel, stride, pads, ceil_mode=int(ceil))

    def average_pool(self, x: str, name: str, kernel: int, stride: int, *, pads: Pads = 0) -> str:
        """Take the mean of each window, padding counted as zeros."""
        return self._pool("AveragePool", x, name, kernel, stride, pads, count_include_pad=1)

    def global_average_pool(self, x: str, name: str) -> str:
        """Take the mean of each channel."""
        batch, channels, *_ = self._shapes[x]
        shape = (batch, channels, 1, 1)
        return self._add("GlobalAveragePool", name, (x,), shape, self._moments[x])

    def local_response_norm(self, x: str, name: str) -> str:
        """Divide by a power of the sum of squares over 5 channels, with AlexNet's constants."""
        before = self._moments[x]
        factor = (1 + LRN_ALPHA * before.power) ** -LRN_BETA
        after = Moments(factor * before.mean, factor * before.std)
        constants = {"size": 5, "alpha": LRN_ALPHA, "beta": LRN_BETA, "bias": 1.0}
        return self._add("LRN", name, (x,), self._shapes[x], after, **constants)

    def concat(self, xs: Sequence[str], name: str) -> str:
        """Join along channels."""
        batch, _, *image = self._shapes[xs[0]]
        shape = (batch, sum(map(self.channels, xs)), *image)
        moments = mixture([(self.channels(x), self._moments[x]) for x in xs])
        return self._add("Concat", name, tuple(xs), shape, moments, axis=1)

    def add(self, x: str, y: str, name: str) -> str:
        """Add two tensors of one shape."""
        moments = self._moments[x].plus(self._moments[y])
        return self._add("Add", name, (x, y), self._shapes[x], moments)

    def flatten(self, x: str, name: str) -> str:
        """Make one row per image."""
        batch, *rest = self._shapes[x]
        shape = (batch, math.prod(rest))
        return self._add("Flatten", name, (x,), shape, self._moments[x], axis=1)

    def dropout(self, x: str, name: str) -> str:
        """Do nothing, as dropout does at inference."""
        return self._add("Dropout", name, (x,), self._shapes[x], self._moments[x])

    def softmax(self, x: str, name: str) -> str:
        """Turn logits along channels into probabilities."""
        return self._add("Softmax", name, (x,), self._shapes[x], self._moments[x], axis=1)

    def finish(self, output: str) -> BuiltModel:
        """Return the finished network, whose only output is `output`."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        def tensor(name: str, initialiser: _Initialiser) -> TensorProto:
            if math.prod(initialiser.shape) <= INLINE_VALUES:
                return numpy_helper.from_array(initialiser.make(), name)
            proto = TensorProto(name=name, dims=initialiser.shape, data_type=TensorProto.FLOAT)
            proto.data_location = TensorProto.EXTERNAL
            proto.external_data.add(key="location", value=LOCATION)
            return proto

        def value(name: str) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, self._shapes[name])

        graph = helper.make_graph(
            [
                helper.make_node(n.op, n.inputs, [n.name], name=n.name, **n.attributes)
                for n in self._nodes
            ],
            self._network,
            [value(self._input)],
            [value(output)],
            [tensor(name, initialiser) for name, initialiser in self._initialisers.items()],
        )
        proto = helper.make_model(
            graph,
            producer_name="hexsim.models",
            ir_version=7,
            opset_imports=[helper.make_opsetid("", 13)],
        )
        weights = {
            name: initialiser.make
            for name, initialiser in self._initialisers.items()
            if math.prod(initialiser.shape) > INLINE_VALUES
        }
        return BuiltModel(proto, weights)

    # How it is done.

    def _add(
        self,
        op: str,
        name: str,
        inputs: tuple[str, ...],
        shape: tuple[int, ...],
        moments: Moments,
        **attributes: int | float | Sequence[int],
    ) -> str:
        if name in self._shapes:
            raise ValueError(f"{self._network}: two tensors named {name}")
        self._nodes.append(_Node(op, name, inputs, attributes))
        self._shapes[name] = shape
        self._moments[name] = moments
        return name

    def _initialise(self, name: str, shape: tuple[int, ...], make: Callable[[], FloatArray]) -> str:
        self._initialisers[name] = _Initialiser(shape, make)
        return name

    def _generator(self, tensor: str) -> Callable[[], np.random.Generator]:
        return lambda: generator(self._network, tensor)

    def _filters(
        self, x: str, name: str, shape: tuple[int, ...], *, bias: bool, std: float
    ) -> tuple[str, ...]:
        """Promise weights and a bias that give outputs of deviation `std`; return their names."""
        moments, outputs = self._moments[x], shape[0]
        weight_std = std / (moments.std * math.sqrt(math.prod(shape[1:])))
        weight_rng = self._generator(f"{name}.weight")
        scale_rng = self._generator(f"{name}.scale")
        bias_rng = self._generator(f"{name}.bias")

        def weight() -> FloatArray:
            return filters(weight_rng(), shape, weight_std, channel_scales(scale_rng(), outputs))

        def statistics() -> tuple[FloatArray, FloatArray]:
            if shape[1] == 1:  # depthwise: few enough weights to look at them
                taps = weight().reshape(outputs, -1)
                total, power = taps.sum(axis=1), (taps**2).sum(axis=1)
                r = NEIGHBOUR_CORRELATION
                return moments.mean * total, moments.std**2 * (r * total**2 + (1 - r) * power)
            variance = (std * channel_scales(scale_rng(), outputs)) ** 2
            return np.zeros(outputs, np.float32), variance

        self._statistics[name] = statistics
        names = [self._initialise(f"{name}.weight", shape, weight)]
        if bias:
            make = lambda: around(bias_rng(), outputs, 0.0, 0.1 * std)  # noqa: E731
            names.append(self._initialise(f"{name}.bias", (outputs,), make))
        return tuple(names)

    def _pool(
        self, op: str, x: str, name: str, kernel: int, stride: int, pads: Pads, **attributes: int
    ) -> str:
        taps, sides = (kernel, kernel), _sides(pads)
        ceil = bool(attributes.get("ceil_mode"))
        image = self._window(x, taps, stride, sides, ceil=ceil)
        return self._add(
            op,
            name,
            (x,),
            (*self._shapes[x][:2], *image),
            self._moments[x],
            kernel_shape=taps,
            strides=(stride, stride),
            pads=sides,
            **attributes,
        )

    def _window(
        self, x: str, taps: tuple[int, int], stride: int, sides: tuple[int, ...], *, ceil: bool
    ) -> tuple[int, int]:
        """Return the height and width that a sliding window leaves."""
        rounding = stride - 1 if ceil else 0
        top, left, bottom, right = sides
        height, width = self._shapes[x][2:]
        return (
            (height + top + bottom - taps[0] + rounding) // stride + 1,
            (width + left + right - taps[1] + rounding) // stride + 1,
        )


def _sides(pads: Pads) -> tuple[int, int, int, int]:
    if isinstance(pads, int):
        return pads, pads, pads, pads
    return pads if len(pads) == 4 else (*pads, *pads)
