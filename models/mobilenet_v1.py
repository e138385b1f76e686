"""MobileNetV1 1.0 224 as in TensorFlow's slim models: depthwise separable blocks, ReLU6.

Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision
Applications", 2017, table 1. As in TensorFlow, "same" padding puts the odd pixel of a strided
convolution at the bottom and right, and the classifier is a 1x1 convolution. 1000 classes, as
the paper counts; the released checkpoints have one more, for background.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

BLOCKS = (
    (1, 64),
    (2, 128),
    (1, 128),
    (2, 256),
    (1, 256),
    (2, 512),
    *((1, 512),) * 5,
    (2, 1024),
    (1, 1024),
)
"""Stride of the depthwise and channels of the pointwise convolution of each block."""


def _norm_relu6(net: Builder, x: str) -> str:
    return net.relu6(net.batch_norm(x, f"{x}/BatchNorm", epsilon=1e-3), f"{x}/Relu6")


def build() -> BuiltModel:
    """Return MobileNetV1 with a softmax over 1000 classes."""
    net = Builder("mobilenet_v1", "input", (1, 3, 224, 224))
    x = net.conv("input", "Conv2d_0", 32, Window.same(3, 2), bias=False)
    x = _norm_relu6(net, x)
    for index, (stride, channels) in enumerate(BLOCKS, start=1):
        size = net.channels(x)
        name = f"Conv2d_{index}_depthwise"
        x = net.conv(x, name, size, Window.same(3, stride), groups=size, bias=False)
        x = _norm_relu6(net, x)
        x = net.conv(x, f"Conv2d_{index}_pointwise", channels, 1, bias=False)
        x = _norm_relu6(net, x)
    x = net.average_pool(x, "AvgPool_1a", 7)
    x = net.dropout(x, "Dropout_1b")
    x = net.conv(x, "Conv2d_1c_1x1", 1000, 1, std=LOGIT_STD)
    x = net.flatten(x, "SpatialSqueeze")
    return net.finish(net.softmax(x, "Predictions"))
