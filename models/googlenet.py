"""GoogLeNet as in BVLC's bvlc_googlenet: 224x224, LRN, pools that round up, no batch norm.

Szegedy et al., "Going Deeper with Convolutions", 2014; layer names and sizes after the Caffe
prototxt, without the two training-only classifiers.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, LRN_STD, Builder
from ._built import BuiltModel
from ._window import Window

# Module: 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, channels after the pool.
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


def _inception(net: Builder, x: str, name: str, sizes: tuple[int, ...]) -> str:
    c1, reduce3, c3, reduce5, c5, projected = sizes

    def conv(x: str, part: str, channels: int, kernel: int) -> str:
        x = net.conv(x, f"{name}/{part}", channels, Window(kernel, pads=kernel // 2))
        return net.relu(x, f"{name}/relu_{part}")

    branches = (
        conv(x, "1x1", c1, 1),
        conv(conv(x, "3x3_reduce", reduce3, 1), "3x3", c3, 3),
        conv(conv(x, "5x5_reduce", reduce5, 1), "5x5", c5, 5),
        conv(net.max_pool(x, f"{name}/pool", 3, 1, pads=1), "pool_proj", projected, 1),
    )
    return net.concat(branches, f"{name}/output")


def build() -> BuiltModel:
    """Return bvlc GoogLeNet with a softmax over 1000 classes."""
    net = Builder("googlenet", "data", (1, 3, 224, 224))
    x = net.conv("data", "conv1/7x7_s2", 64, Window(7, stride=2, pads=3), std=LRN_STD)
    x = net.relu(x, "conv1/relu_7x7")
    x = net.max_pool(x, "pool1/3x3_s2", 3, 2, ceil=True)
    x = net.local_response_norm(x, "pool1/norm1")
    x = net.conv(x, "conv2/3x3_reduce", 64, 1)
    x = net.relu(x, "conv2/relu_3x3_reduce")
    x = net.conv(x, "conv2/3x3", 192, Window(3, pads=1), std=LRN_STD)
    x = net.relu(x, "conv2/relu_3x3")
    x = net.local_response_norm(x, "conv2/norm2")
    x = net.max_pool(x, "pool2/3x3_s2", 3, 2, ceil=True)
    for stage, modules in _STAGES.items():
        for letter, sizes in modules.items():
            x = _inception(net, x, f"inception_{stage}{letter}", sizes)
        if stage < 5:
            x = net.max_pool(x, f"pool{stage}/3x3_s2", 3, 2, ceil=True)
    x = net.average_pool(x, "pool5/7x7_s1", 7)
    x = net.dropout(x, "pool5/drop_7x7_s1")
    x = net.flatten(x, "flatten")
    x = net.fully_connected(x, "loss3/classifier", 1000, std=LOGIT_STD)
    return net.finish(net.softmax(x, "prob"))
