"""Networks of a few layers for tests of the time side, which never touch a weight."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from onnx import helper

from hexsim.graph.ir import Constant, Layer, Network, Shape, Tensor
from hexsim.layers import (
    AxisSlice,
    Concat,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    Neuron,
    Opaque,
    Permute,
    Pooling,
    Reshape,
    Resize,
    Softmax,
    StridedSlice,
    Window,
)
from hexsim.planning.plan import KernelCall, Plan
from hexsim.runtimes import Runtime
from tests.deployed import planned

ERF = helper.make_node("Erf", ["x"], ["y"]).SerializeToString()
"""What an opaque layer holds."""


def _untouched() -> np.ndarray:
    raise AssertionError("timing must not read a weight")


class Sketch:
    """Adds layers one after another; every method returns the name of the new tensor."""

    def __init__(self, shape: Shape) -> None:
        order = (0, 2, 3, 1) if len(shape) == 4 else ()
        self.layers: list[Layer] = []
        self.tensors = {"in": Tensor("in", shape, order)}
        self.constants: dict[str, Constant] = {}

    def add(self, layer_type: type[Layer], *inputs: str, **attributes: object) -> str:
        name = f"{layer_type.__name__.lower()}{len(self.layers)}"
        layer = layer_type(name=name, inputs=inputs, outputs=(f"{name}_out",), **attributes)  # type: ignore[arg-type]
        shapes = [self.shape(tensor) for tensor in inputs]
        self.layers.append(layer)
        self.tensors[layer.output] = Tensor(layer.output, layer.output_shapes(shapes)[0])
        return layer.output

    def shape(self, name: str) -> Shape:
        return (self.tensors.get(name) or self.constants[name]).shape

    def weight(self, shape: Shape) -> str:
        name = f"weight{len(self.layers)}"
        self.constants[name] = Constant(name, shape, _untouched)
        return name

    def conv(
        self, source: str, channels: int, kernel: int = 1, stride: int = 1, groups: int = 1
    ) -> str:
        pad = (kernel - 1) // 2
        inputs = self.shape(source)[-1]
        return self.add(
            Convolution,
            source,
            weight=self.weight((kernel, kernel, inputs // groups, channels)),
            window=Window((kernel, kernel), (stride, stride), (pad,) * 4),
            groups=groups,
            output_channels=channels,
        )

    def depthwise(self, source: str, kernel: int = 3, stride: int = 1) -> str:
        channels = self.shape(source)[-1]
        return self.conv(source, channels, kernel, stride, groups=channels)

    def deconv(
        self, source: str, channels: int, kernel: int = 2, stride: int = 2, groups: int = 1
    ) -> str:
        inputs = self.shape(source)[-1]
        return self.add(
            Deconvolution,
            source,
            weight=self.weight((kernel, kernel, inputs // groups, channels)),
            window=Window((kernel, kernel), (stride, stride)),
            groups=groups,
            output_channels=channels,
        )

    def dense(self, source: str, outputs: int) -> str:
        inputs = math.prod(self.shape(source)[1:])
        weight = self.weight((inputs, outputs))
        return self.add(FullyConnected, source, weight=weight, output_channels=outputs)

    def pool(self, source: str, kind: str = "max", kernel: int = 3, stride: int = 1) -> str:
        pads = ((kernel - 1) // 2,) * 4
        window = Window((kernel, kernel), (stride, stride), pads)
        return self.add(Pooling, source, kind=kind, window=window)

    def network(self, *outputs: str) -> Network:
        network = Network(
            "sketch", tuple(self.layers), self.tensors, self.constants, ("in",), outputs
        )
        network.check()
        return network


def plan(network: Network, runtime: Runtime = "dsp") -> Plan:
    return planned(network, runtime)


def only_call(sketch: Sketch, output: str) -> KernelCall:
    """The call of the layer that writes `output`."""
    calls = plan(sketch.network(output)).calls()
    return next(call for call in calls if output in call.layer.outputs)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """A chain of up to six layers with an occasional branch, ended by a classifier or not."""
    size = draw(st.integers(4, 40))
    net = Sketch((1, size, size, draw(st.sampled_from([1, 3, 16, 32, 48]))))
    last = "in"
    kinds = st.sampled_from(
        [
            "conv",
            "depthwise",
            "grouped",
            "pool",
            "lrn",
            "branch",
            "neuron",
            "permute",
            "opaque",
            "slice",
            "deconv",
            "resize",
        ]
    )
    for kind in draw(st.lists(kinds, min_size=1, max_size=6)):
        channels = draw(st.sampled_from([8, 32, 40, 96]))
        kernel = draw(st.sampled_from([1, 3, 5]))
        stride = draw(st.sampled_from([1, 2, 3]))
        if kind == "conv":
            last = net.conv(last, channels, kernel, stride)
        elif kind == "depthwise" and net.shape(last)[-1] > 1:
            last = net.depthwise(last, kernel, min(stride, 2))
        elif kind == "grouped" and net.shape(last)[-1] % 2 == 0:
            last = net.conv(last, channels, kernel, groups=2)
        elif kind == "pool":
            last = net.pool(last, draw(st.sampled_from(["max", "average"])), kernel, stride)
        elif kind == "lrn":
            last = net.add(LocalResponseNorm, last, size=5, alpha=1e-4, beta=0.75, bias=1.0)
        elif kind == "branch":
            left, right = net.conv(last, channels), net.conv(last, channels, 3)
            if draw(st.booleans()):
                last = net.add(Concat, left, right, axis=3)
            else:
                last = net.add(Elementwise, left, right, kind="sum")
        elif kind == "neuron":
            last = net.add(Neuron, last, function=draw(st.sampled_from(["clamp", "tanh"])))
        elif kind == "permute":
            last = net.add(Permute, last, permutation=(0, 2, 1, 3))
        elif kind == "slice" and net.shape(last)[-1] > 1:
            part = AxisSlice(3, 0, net.shape(last)[-1] // 2)
            last = net.add(StridedSlice, last, parts=(part,))
        elif kind == "deconv" and net.shape(last)[1] < 40:
            groups = draw(st.sampled_from([1, 1, 2])) if net.shape(last)[-1] % 2 == 0 else 1
            last = net.deconv(last, channels, kernel, stride, groups)
        elif kind == "resize":
            nearest = draw(st.sampled_from(["nearest", "bilinear"]))
            scales = draw(st.sampled_from([(2.0, 2.0), (1.0, 1.5)]))
            if net.shape(last)[1] < 40:
                last = net.add(Resize, last, kind=nearest, scales=scales)
        elif kind == "opaque":
            shapes = (net.shape(last),)
            last = net.add(Opaque, last, op_type="Erf", node=ERF, shapes=shapes)
    if draw(st.booleans()):
        last = net.dense(last, 10)
        last = net.add(Softmax, last, axes=(1,))
    elif draw(st.booleans()):
        last = net.add(Reshape, last, shape=(1, math.prod(net.shape(last))))
    return net.network(last) if net.layers else net.network(net.conv("in", 8))
