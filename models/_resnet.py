"""The ResNet family as in torchvision: blocks that stride in their 3x3 convolution (version 1.5).

He et al., "Deep Residual Learning for Image Recognition", 2015. Its bottlenecks stride in the
first 1x1; version 1.5 moved them. Initialisers are named as in torchvision's state dict.
"""

from __future__ import annotations

from typing import Protocol

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

_EXPANSION = 4

_BRANCH_GAMMA = 0.4
"""Mean gamma of a branch's last batch norm: small, so that the sum grows slowly (assumed)."""

_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the channels of ImageNet's pictures, as torchvision normalises them."""


class Block(Protocol):
    """A function that adds one residual block of `width` channels before their expansion."""

    def __call__(self, net: Builder, x: str, name: str, *, width: int, stride: int) -> str:
        """Return the block's output."""


def basic(net: Builder, x: str, name: str, *, width: int, stride: int) -> str:
    """Add a block of two 3x3 convolutions."""
    y = _conv(net, x, f"{name}.conv1", width, 3, stride)
    y = net.relu(net.batch_norm(y, f"{name}.bn1"), f"{name}.relu1")
    y = _conv(net, y, f"{name}.conv2", width, 3)
    y = net.batch_norm(y, f"{name}.bn2", gamma=_BRANCH_GAMMA)
    return net.relu(_sum(net, x, y, name, stride), f"{name}.relu2")


def bottleneck(
    net: Builder, x: str, name: str, *, width: int, stride: int, widening: int = 1
) -> str:
    """Add a block whose 3x3 convolution has a quarter of its channels, or `widening` quarters."""
    y = _conv(net, x, f"{name}.conv1", widening * width, 1)
    y = net.relu(net.batch_norm(y, f"{name}.bn1"), f"{name}.relu1")
    y = _conv(net, y, f"{name}.conv2", widening * width, 3, stride)
    y = net.relu(net.batch_norm(y, f"{name}.bn2"), f"{name}.relu2")
    y = _conv(net, y, f"{name}.conv3", _EXPANSION * width, 1)
    y = net.batch_norm(y, f"{name}.bn3", gamma=_BRANCH_GAMMA)
    return net.relu(_sum(net, x, y, name, stride), f"{name}.relu3")


def build(
    network: str, block: Block, repeats: tuple[int, ...], *, standardised: bool = False
) -> BuiltModel:
    """Return a ResNet with `repeats` blocks in its stages, whose output is 1000 logits.

    If `standardised`, pictures of 0 .. 1 are normalised inside the network.
    """
    net, x = Builder(network, "input", (1, 3, 224, 224)), "input"
    if standardised:
        x = net.standardise(x, "normalised", _MEAN, _DEVIATION)
    x = _conv(net, x, "conv1", 64, 7, stride=2)
    x = net.relu(net.batch_norm(x, "bn1"), "relu")
    x = net.max_pool(x, "maxpool", 3, 2, pads=1)
    for stage, count in enumerate(repeats, start=1):
        for repeat in range(count):
            stride = 2 if stage > 1 and repeat == 0 else 1
            x = block(net, x, f"layer{stage}.{repeat}", width=32 * 2**stage, stride=stride)
    x = net.flatten(net.global_average_pool(x, "avgpool"), "flatten")
    return net.finish(net.fully_connected(x, "fc", 1000, std=LOGIT_STD))


def _conv(net: Builder, x: str, name: str, channels: int, kernel: int, stride: int = 1) -> str:
    return net.conv(x, name, channels, Window.centred(kernel, stride), bias=False)


def _sum(net: Builder, x: str, y: str, name: str, stride: int) -> str:
    """Add a block's branch `y` to its input `x`, which is projected if it has another size."""
    if net.channels(x) != net.channels(y):
        x = _conv(net, x, f"{name}.downsample.0", net.channels(y), 1, stride)
        x = net.batch_norm(x, f"{name}.downsample.1")
    return net.add(x, y, f"{name}.add")
