"""ResNet-50 v1.5, 224x224: bottlenecks that stride in their 3x3 convolution, as in torchvision.

He et al., "Deep Residual Learning for Image Recognition", 2015, strides in the 1x1; version
1.5 moved them. Initialisers are named as in torchvision's state dict.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

_REPEATS = (3, 4, 6, 3)
_EXPANSION = 4

_BRANCH_GAMMA = 0.4
"""Mean gamma of a branch's last batch norm: small, so that the sum grows slowly (assumed)."""


def _bottleneck(net: Builder, x: str, name: str, width: int, stride: int) -> str:
    channels = _EXPANSION * width
    y = net.conv(x, f"{name}.conv1", width, 1, bias=False)
    y = net.relu(net.batch_norm(y, f"{name}.bn1"), f"{name}.relu1")
    y = net.conv(y, f"{name}.conv2", width, Window(3, stride, pads=1), bias=False)
    y = net.relu(net.batch_norm(y, f"{name}.bn2"), f"{name}.relu2")
    y = net.conv(y, f"{name}.conv3", channels, 1, bias=False)
    y = net.batch_norm(y, f"{name}.bn3", gamma=_BRANCH_GAMMA)
    if net.channels(x) != channels:
        x = net.conv(x, f"{name}.downsample.0", channels, Window(1, stride), bias=False)
        x = net.batch_norm(x, f"{name}.downsample.1")
    return net.relu(net.add(x, y, f"{name}.add"), f"{name}.relu3")


def build() -> BuiltModel:
    """Return ResNet-50 v1.5, whose output is 1000 logits."""
    net = Builder("resnet50", "input", (1, 3, 224, 224))
    x = net.conv("input", "conv1", 64, Window(7, stride=2, pads=3), bias=False)
    x = net.relu(net.batch_norm(x, "bn1"), "relu")
    x = net.max_pool(x, "maxpool", 3, 2, pads=1)
    for stage, repeats in enumerate(_REPEATS, start=1):
        for repeat in range(repeats):
            stride = 2 if stage > 1 and repeat == 0 else 1
            x = _bottleneck(net, x, f"layer{stage}.{repeat}", 32 * 2**stage, stride)
    x = net.flatten(net.global_average_pool(x, "avgpool"), "flatten")
    return net.finish(net.fully_connected(x, "fc", 1000, std=LOGIT_STD))
