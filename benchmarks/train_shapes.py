"""Trains the networks models/shapes_mobilenet*.py and stores their weights beside them.

nice -n 10 python -m benchmarks.train_shapes [NETWORK ...]

It takes some minutes of one core and needs numpy and numba alone. Every run with the same versions
on the same machine gives the same bits; elsewhere the last digits differ. Both forms are trained
alike: the same pictures in the same order, the same seed, the same schedule.

A batch norm's scale before a depthwise step multiplies what is learnt by a fixed factor: 1, or for
one channel in `EVERY` 1 / `SPREAD`. In the plain form the batch norm behind the depthwise step
makes up for it, so that folded depthwise weights differ as much, as they do in published
MobileNets; in the friendly form nothing does.
"""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
from numba import njit

from hexsim.models._separable import Separable
from hexsim.models._shapes import draw
from hexsim.models._trained import archive

NETWORKS = ("shapes_mobilenet", "shapes_mobilenet_friendly")
TRAINING, TRAINING_SEED = 9000, 1000
"""Pictures to train on; no seed of the other pictures is the same."""

EPOCHS, BATCH, RATE = 30, 50, 0.006
MEAN_DECAY, SQUARE_DECAY, TINY = 0.9, 0.99, 1e-7
"""Of Adam (Kingma and Ba, 2014)."""

EVERY, SPREAD = 8, 60.0

Array = np.ndarray


@njit(cache=False, fastmath=True)  # type: ignore[misc]
def _depthwise(x: Array, weight: Array, stride: int, before: int, out: Array) -> None:
    """Convolve each channel (NHWC) with its 3x3 filter."""
    batch, height, width, channels = out.shape
    for n in range(batch):
        for i in range(height):
            for j in range(width):
                for a in range(3):
                    row = i * stride + a - before
                    if 0 <= row < x.shape[1]:
                        for b in range(3):
                            column = j * stride + b - before
                            if 0 <= column < x.shape[2]:
                                for c in range(channels):
                                    out[n, i, j, c] += x[n, row, column, c] * weight[a, b, c]


@njit(cache=False, fastmath=True)  # type: ignore[misc]
def _depthwise_back(
    x: Array, weight: Array, stride: int, before: int, above: Array, dx: Array, dw: Array
) -> None:
    """Add the gradients of the inputs and of the filters."""
    batch, height, width, channels = above.shape
    for n in range(batch):
        for i in range(height):
            for j in range(width):
                for a in range(3):
                    row = i * stride + a - before
                    if 0 <= row < x.shape[1]:
                        for b in range(3):
                            column = j * stride + b - before
                            if 0 <= column < x.shape[2]:
                                for c in range(channels):
                                    g = above[n, i, j, c]
                                    dx[n, row, column, c] += g * weight[a, b, c]
                                    dw[a, b, c] += g * x[n, row, column, c]


class Layer:
    """A step with parameters; `forward` keeps what `back` needs."""

    def __init__(self, **parameters: Array) -> None:
        self.parameters = {k: v.astype(np.float32) for k, v in parameters.items()}
        self.gradients: dict[str, Array] = {}

    def forward(self, x: Array, training: bool) -> Array:
        raise NotImplementedError

    def back(self, above: Array) -> Array:
        raise NotImplementedError

    def arrays(self) -> dict[str, Array]:
        """The parameters as ONNX has them, by the end of their names."""
        return self.parameters


class Dense(Layer):
    """A 1x1 convolution."""

    def forward(self, x: Array, training: bool) -> Array:
        self.x = x
        y = x @ self.parameters["weight"]
        return y + self.parameters["bias"] if "bias" in self.parameters else y

    def back(self, above: Array) -> Array:
        flat = above.reshape(-1, above.shape[-1])
        self.gradients["weight"] = self.x.reshape(len(flat), -1).T @ flat
        if "bias" in self.parameters:
            self.gradients["bias"] = flat.sum(0)
        return above @ self.parameters["weight"].T

    def arrays(self) -> dict[str, Array]:
        return {**self.parameters, "weight": self.parameters["weight"].T[:, :, None, None]}


class First(Dense):
    """The first convolution, 3x3 by steps of two: a matrix over patches; nothing goes back."""

    def forward(self, x: Array, training: bool) -> Array:
        size = x.shape[1]
        wide = np.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)))
        taps = [wide[:, a : a + size : 2, b : b + size : 2] for a in range(3) for b in range(3)]
        return super().forward(np.concatenate(taps, -1), training)

    def arrays(self) -> dict[str, Array]:
        weight = self.parameters["weight"]
        return {"weight": weight.reshape(3, 3, -1, weight.shape[1]).transpose(3, 2, 0, 1)}


class Depthwise(Layer):
    """A depthwise 3x3 convolution with "same" padding."""

    stride = 1

    def forward(self, x: Array, training: bool) -> Array:
        self.x, before = np.ascontiguousarray(x), int(self.stride == 1)
        n, h, w, c = x.shape
        out = np.zeros((n, h // self.stride, w // self.stride, c), np.float32)
        _depthwise(self.x, self.parameters["weight"], self.stride, before, out)
        return out + self.parameters["bias"] if "bias" in self.parameters else out

    def back(self, above: Array) -> Array:
        dx, weight = np.zeros_like(self.x), self.parameters["weight"]
        dw, above = np.zeros_like(weight), np.ascontiguousarray(above)
        _depthwise_back(self.x, weight, self.stride, int(self.stride == 1), above, dx, dw)
        self.gradients["weight"] = dw
        if "bias" in self.parameters:
            self.gradients["bias"] = above.sum((0, 1, 2))
        return dx

    def arrays(self) -> dict[str, Array]:
        return {**self.parameters, "weight": self.parameters["weight"].transpose(2, 0, 1)[:, None]}


class Norm(Layer):
    """Batch norm and the activation; `factor` multiplies scale and shift, and is not learnt."""

    top = np.float32(6)
    epsilon = 1e-3
    factor: Array = np.ones(1, np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        p = self.parameters
        axes = (0, 1, 2)
        if training:
            mean, variance = x.mean(axes), x.var(axes)
            for name, value in (("running_mean", mean), ("running_var", variance)):
                p[name] += np.float32(0.05) * (value - p[name])
        else:
            mean, variance = p["running_mean"], p["running_var"]
        self.inverse = 1 / np.sqrt(variance + np.float32(self.epsilon))
        self.normal = (x - mean) * self.inverse
        y = self.factor * (p["weight"] * self.normal + p["bias"])
        self.passed = (y > 0) & (y < self.top)
        return np.clip(y, 0, self.top)

    def back(self, above: Array) -> Array:
        above = np.where(self.passed, above, 0) * self.factor
        axes, n = (0, 1, 2), above[..., 0].size
        shift = above.sum(axes)
        scale = (above * self.normal).sum(axes)
        self.gradients["bias"], self.gradients["weight"] = shift, scale
        factor = self.parameters["weight"] * self.inverse
        return factor * (above - shift / n - self.normal * (scale / n))

    def arrays(self) -> dict[str, Array]:
        p = self.parameters
        return {**p, "weight": p["weight"] * self.factor, "bias": p["bias"] * self.factor}


class Net:
    """The layers of a network by the names of its nodes, and its training."""

    def __init__(self, network: Separable, *, friendly: bool) -> None:
        self.rng = np.random.default_rng(7)
        self.layers: dict[str, Layer] = {}
        self._friendly, self._network = friendly, network
        self._add("Conv2d_0", First(weight=self._drawn(27, network.first)))
        self._norm("Conv2d_0", network.first, spread=True)
        size = network.first
        for index, (stride, channels) in enumerate(network.blocks, start=1):
            name = f"Conv2d_{index}"
            filters = self._drawn(9, size).reshape(3, 3, size)
            step = Depthwise(weight=filters, **({"bias": np.zeros(size)} if friendly else {}))
            step.stride = stride
            self._add(f"{name}_depthwise", step)
            if not friendly:
                self._norm(f"{name}_depthwise", size)
            self._add(f"{name}_pointwise", Dense(weight=self._drawn(size, channels)))
            self._norm(f"{name}_pointwise", channels, spread=index < len(network.blocks))
            size = channels
        head = {"weight": self._drawn(size, network.classes), "bias": np.zeros(network.classes)}
        self._add("Conv2d_1c_1x1", Dense(**head))

    def _drawn(self, inputs: int, outputs: int) -> Array:
        return self.rng.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)

    def _add(self, name: str, layer: Layer) -> None:
        self.layers[name] = layer

    def _norm(self, name: str, channels: int, *, spread: bool = False) -> None:
        ones, zeros = np.ones(channels), np.zeros(channels)
        norm = Norm(weight=ones, bias=zeros, running_mean=zeros, running_var=ones)
        norm.epsilon = self._network.epsilon
        norm.top = np.float32(np.inf if self._friendly else 6)
        if spread:
            factor = np.ones(channels, np.float32)
            factor[::EVERY] = 1 / SPREAD
            norm.factor = self.rng.permutation(factor)
        self._add(f"{name}/BatchNorm", norm)

    def scores(self, x: Array, training: bool = False) -> Array:
        """Class scores of pictures (NHWC)."""
        *body, head = self.layers.values()
        for layer in body:
            x = layer.forward(x, training)
        self._image = x.shape
        return head.forward(x.mean((1, 2)), training)

    def step(self, x: Array, classes: Array, rate: float, moments: dict[str, Array]) -> None:
        """Move every parameter once, by the gradients of a batch."""
        scores = self.scores(x, training=True)
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        shares[np.arange(len(x)), classes] -= 1
        *body, head = self.layers.values()
        above = head.back(shares / np.float32(len(x)))
        _, height, width, _ = self._image
        above = np.broadcast_to(above[:, None, None] / np.float32(height * width), self._image)
        for layer in reversed(body):
            above = layer.back(above)
        for name, layer in self.layers.items():
            for key, gradient in layer.gradients.items():
                value = layer.parameters[key]
                mean, square = moments.setdefault(f"{name}.{key}", np.zeros((2, *value.shape)))
                mean += (1 - MEAN_DECAY) * (gradient - mean)
                square += (1 - SQUARE_DECAY) * (gradient**2 - square)
                value -= (rate * mean / (np.sqrt(square) + TINY)).astype(np.float32)

    def arrays(self) -> dict[str, Array]:
        """What is stored; statistics and scales, which differ widely, in full."""
        return {
            f"{name}.{key}": value.astype(np.float32 if isinstance(layer, Norm) else np.float16)
            for name, layer in self.layers.items()
            for key, value in layer.arrays().items()
        }


def nhwc(pictures: Array) -> Array:
    return np.ascontiguousarray(pictures.transpose(0, 2, 3, 1))


def right(net: Net, pictures: Array, classes: Array) -> float:
    return float(np.mean(net.scores(nhwc(pictures)).argmax(1) == classes))


def train(name: str) -> Net:
    """Train the network `name`, with a warm-up and a cosine of the rate."""
    network: Separable = import_module("hexsim.models.shapes_mobilenet").NETWORK
    net, moments = Net(network, friendly=name.endswith("friendly")), dict[str, Array]()
    pictures, classes = draw(TRAINING, TRAINING_SEED)
    judged = draw(500, TRAINING_SEED + 1)
    pictures, steps = nhwc(pictures), EPOCHS * (TRAINING // BATCH)
    order = np.random.default_rng(8)
    done = 0
    for epoch in range(EPOCHS):
        for batch in order.permutation(TRAINING).reshape(-1, BATCH):
            rate = RATE * min(1, done / 200) * 0.5 * (1 + np.cos(np.pi * done / steps))
            x = pictures[batch]
            if order.random() < 0.5:
                x = x[:, :, ::-1]
            net.step(x, classes[batch], rate, moments)
            done += 1
        print(f"{name}, epoch {epoch + 1}: {right(net, *judged):.1%} of 500 others", flush=True)
    return net


def main() -> None:
    for name in sys.argv[1:] or NETWORKS:
        np.savez_compressed(archive(name), **train(name).arrays())  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
