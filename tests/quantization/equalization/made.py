"""Small networks of convolutions with weights, to equalise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexsim.graph.ir import Constant, FloatArray, Layer, Network, Tensor
from hexsim.layers import RELU, Clamp, Convolution, Pooling, Window
from hexsim.onnx_io.float_engine import FloatEngine

SIZE = 6


class Made:
    """Adds convolutions on a 6x6 image of 4 channels; the last tensor is the output."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.layers: list[Layer] = []
        self.tensors = {"in": Tensor("in", (1, SIZE, SIZE, 4))}
        self.constants: dict[str, Constant] = {}

    def conv(
        self,
        name: str,
        outputs: int,
        source: str | None = None,
        *,
        kernel: int = 1,
        groups: int = 1,
        clamp: Clamp = RELU,
        bias: bool = True,
        moments: Sequence[Sequence[float]] | None = None,
    ) -> Made:
        source = source or (self.layers[-1].output if self.layers else "in")
        inputs = self.tensors[source].shape[-1]
        shape = (kernel, kernel, inputs // groups, outputs)
        spread = np.exp(self.rng.uniform(-3, 3, outputs))
        signs = self.rng.choice([-1, 1], shape)  # no weight is so small that a channel is dead
        self._add(f"{name}.w", signs * self.rng.uniform(0.3, 1, shape) * spread)
        if bias:
            self._add(f"{name}.b", self.rng.normal(0, 1, outputs))
        if moments is not None:
            self._add(f"{name}.m", np.array(moments))
        return self.layer(
            Convolution(
                name=name,
                inputs=(source,),
                outputs=(f"{name}.y",),
                weight=f"{name}.w",
                bias=f"{name}.b" if bias else None,
                moments=None if moments is None else f"{name}.m",
                window=Window((kernel, kernel), (1, 1), (kernel // 2,) * 4),
                groups=groups,
                clamp=clamp,
                output_channels=outputs,
            )
        )

    def pool(self) -> Made:
        source = self.layers[-1].output
        window = Window((2, 2), (2, 2))
        return self.layer(
            Pooling(name="pool", inputs=(source,), outputs=("pool.y",), kind="max", window=window)
        )

    def layer(self, layer: Layer) -> Made:
        (shape,) = layer.output_shapes([self.tensors[name].shape for name in layer.inputs])
        self.tensors[layer.output] = Tensor(layer.output, shape)
        self.layers.append(layer)
        return self

    def network(self, *outputs: str) -> Network:
        names = outputs or (self.layers[-1].output,)
        made = Network("made", tuple(self.layers), self.tensors, self.constants, ("in",), names)
        made.check()
        return made

    def _add(self, name: str, value: np.ndarray) -> None:
        self.constants[name] = Constant(name, value.shape, value)


def inputs(count: int = 3) -> list[dict[str, FloatArray]]:
    rng = np.random.default_rng(9)
    return [{"in": rng.standard_normal((1, SIZE, SIZE, 4), np.float32)} for _ in range(count)]


def difference(first: Network, other: Network) -> float:
    """Largest difference of their outputs, relative to the largest output."""
    sides = [FloatEngine(replace(n, outputs=first.outputs)) for n in (first, other)]
    worst = 0.0
    for feed in inputs():
        a, b = (side.run(feed) for side in sides)
        for name, array in a.items():
            assert np.ptp(array) > 0
            worst = max(worst, float(np.abs(array - b[name]).max() / np.abs(array).max()))
    return worst
