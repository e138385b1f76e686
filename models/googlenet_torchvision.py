"""GoogLeNet as in torchvision: batch norm after every convolution, no LRN, 224x224.

Differs from bvlc's also in its "5x5" branch, which is 3x3, and in its last max pool, 2x2.
Initialisers are named as in torchvision's state dict. The input is rescaled from 0 .. 1 to -1 .. 1
inside the network, as torchvision's trained weights need it and Qualcomm AI Hub Models exports it
(qai_hub_models, googlenet and imagenet_classifier). Left out: the training-only classifiers.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

# Module: 1x1, 3x3 reduce, 3x3, second 3x3 reduce, second 3x3, channels after the pool.
_STAGES = {
    3: {"a": (64, 96, 128, 16, 32, 32), "b": (128, 128, 192, 32, 96, 64)},
    4: {
        "a": (192, 96, 208, 16, 48, 64),
        "b": (160, 112, 224, 24, 64, 64),
        "c": (128, 128, 256, 24, 64, 64),
        "d": (112, 144, 288, 32, 64, 64),
        "e": (256, 160, 320, 32, 128, 128),
    },
    5: {"a": (256, 160, 320, 32, 128, 128), "b": (384, 192, 384, 48, 128, 128)},
}
_POOL_KERNEL = {3: 3, 4: 2}


def _conv(net: Builder, x: str, name: str, channels: int, kernel: int, stride: int = 1) -> str:
    window = Window(kernel, stride, pads=kernel // 2)
    x = net.conv(x, f"{name}.conv", channels, window, bias=False)
    return net.relu(net.batch_norm(x, f"{name}.bn", epsilon=1e-3), f"{name}.relu")


def _inception(net: Builder, x: str, name: str, sizes: tuple[int, ...]) -> str:
    c1, reduce3, c3, reduce5, c5, projected = sizes
    pooled = net.max_pool(x, f"{name}.branch4.0", 3, 1, pads=1, ceil=True)
    branches = (
        _conv(net, x, f"{name}.branch1", c1, 1),
        _conv(net, _conv(net, x, f"{name}.branch2.0", reduce3, 1), f"{name}.branch2.1", c3, 3),
        _conv(net, _conv(net, x, f"{name}.branch3.0", reduce5, 1), f"{name}.branch3.1", c5, 3),
        _conv(net, pooled, f"{name}.branch4.1", projected, 1),
    )
    return net.concat(branches, f"{name}.cat")


def build() -> BuiltModel:
    """Return torchvision's GoogLeNet, whose output is 1000 logits."""
    net = Builder("googlenet_torchvision", "input", (1, 3, 224, 224))
    x = net.rescale("input", "rescaled", 2.0, -1.0)
    x = _conv(net, x, "conv1", 64, 7, stride=2)
    x = net.max_pool(x, "maxpool1", 3, 2, ceil=True)
    x = _conv(net, x, "conv2", 64, 1)
    x = _conv(net, x, "conv3", 192, 3)
    x = net.max_pool(x, "maxpool2", 3, 2, ceil=True)
    for stage, modules in _STAGES.items():
        for letter, sizes in modules.items():
            x = _inception(net, x, f"inception{stage}{letter}", sizes)
        if stage in _POOL_KERNEL:
            x = net.max_pool(x, f"maxpool{stage}", _POOL_KERNEL[stage], 2, ceil=True)
    x = net.flatten(net.global_average_pool(x, "avgpool"), "flatten")
    x = net.dropout(x, "dropout")
    return net.finish(net.fully_connected(x, "fc", 1000, std=LOGIT_STD))
