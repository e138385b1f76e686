"""MobileNetV1 1.0 224 made for int8: the quantisation-friendly separable convolution.

Sheng et al., "A Quantization-Friendly Separable Convolution for MobileNets", 2018,
arXiv:1803.08607: MobileNetV1 without batch norm and ReLU6 between the depthwise and the pointwise
step, since folding a batch norm over channels that hardly vary blows up their weights, and with
ReLU instead of ReLU6. Everything else is as in mobilenet_v1.py. The depthwise step has a bias.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window
from .mobilenet_v1 import BLOCKS


def _norm_relu(net: Builder, x: str) -> str:
    return net.relu(net.batch_norm(x, f"{x}/BatchNorm", epsilon=1e-3), f"{x}/Relu")


def build() -> BuiltModel:
    """Return the network with a softmax over 1000 classes."""
    net = Builder("mobilenet_v1_quantization_friendly", "input", (1, 3, 224, 224))
    x = net.conv("input", "Conv2d_0", 32, Window.same(3, 2), bias=False)
    x = _norm_relu(net, x)
    for index, (stride, channels) in enumerate(BLOCKS, start=1):
        size = net.channels(x)
        x = net.conv(x, f"Conv2d_{index}_depthwise", size, Window.same(3, stride), groups=size)
        x = net.conv(x, f"Conv2d_{index}_pointwise", channels, 1, bias=False)
        x = _norm_relu(net, x)
    x = net.average_pool(x, "AvgPool_1a", 7)
    x = net.dropout(x, "Dropout_1b")
    x = net.conv(x, "Conv2d_1c_1x1", 1000, 1, std=LOGIT_STD)
    x = net.flatten(x, "SpatialSqueeze")
    return net.finish(net.softmax(x, "Predictions"))
