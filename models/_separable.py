"""MobileNetV1's depthwise separable blocks: as published, and as changed for int8.

Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision
Applications", 2017; Sheng et al., "A Quantization-Friendly Separable Convolution for MobileNets",
2018, arXiv:1803.08607: no batch norm and ReLU6 between the depthwise and the pointwise step, since
folding a batch norm over channels that hardly vary blows up their weights, and ReLU instead of
ReLU6. The depthwise step then has a bias.

As in TensorFlow, "same" padding puts the odd pixel of a strided convolution at the bottom and
right, and the classifier is a 1x1 convolution.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.records import dataclass

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window


@dataclass(frozen=True, slots=True)
class Separable:
    """A network of such blocks: `size` pixels square, stride and channels of each block.

    `epsilon` is added to variances; its default is that of TensorFlow's slim models.
    """

    size: int
    first: int
    blocks: Sequence[tuple[int, int]]
    classes: int
    epsilon: float = 1e-3
    input: str = "input"

    def build(self, network: str, *, friendly: bool = False) -> BuiltModel:
        """Return the network with a softmax; `friendly` is the form changed for int8."""

        def norm(x: str) -> str:
            x = net.batch_norm(x, f"{x}/BatchNorm", epsilon=self.epsilon)
            stem = x.removesuffix("/BatchNorm")
            return net.relu(x, f"{stem}/Relu") if friendly else net.relu6(x, f"{stem}/Relu6")

        net = Builder(network, self.input, (1, 3, self.size, self.size))
        x = norm(net.conv(self.input, "Conv2d_0", self.first, Window.same(3, 2), bias=False))
        for index, (stride, channels) in enumerate(self.blocks, start=1):
            name, size, window = f"Conv2d_{index}", net.channels(x), Window.same(3, stride)
            x = net.conv(x, f"{name}_depthwise", size, window, groups=size, bias=friendly)
            x = net.conv(x if friendly else norm(x), f"{name}_pointwise", channels, 1, bias=False)
            x = norm(x)
        x = net.average_pool(x, "AvgPool_1a", net.height(x))
        x = net.dropout(x, "Dropout_1b")
        x = net.conv(x, "Conv2d_1c_1x1", self.classes, 1, std=LOGIT_STD)
        return net.finish(net.softmax(net.flatten(x, "SpatialSqueeze"), "Predictions"))
