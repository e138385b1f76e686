"""SqueezeNet 1.1 as released for Caffe: 227x227, fire modules, pools that round up.

Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", 2016; layer
names and sizes after the Caffe prototxt of version 1.1.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

# Fire module: squeezed channels and channels of each of the two expansions.
_FIRES = {
    2: (16, 64),
    3: (16, 64),
    4: (32, 128),
    5: (32, 128),
    6: (48, 192),
    7: (48, 192),
    8: (64, 256),
    9: (64, 256),
}
_POOLED = (3, 5)


def _fire(net: Builder, x: str, name: str, squeezed: int, expanded: int) -> str:
    x = net.conv(x, f"{name}/squeeze1x1", squeezed, 1)
    x = net.relu(x, f"{name}/relu_squeeze1x1")
    branches = []
    for part, kernel in (("expand1x1", 1), ("expand3x3", 3)):
        y = net.conv(x, f"{name}/{part}", expanded, Window(kernel, pads=kernel // 2))
        branches.append(net.relu(y, f"{name}/relu_{part}"))
    return net.concat(branches, f"{name}/concat")


def build() -> BuiltModel:
    """Return SqueezeNet 1.1 with a softmax over 1000 classes."""
    net = Builder("squeezenet1_1", "data", (1, 3, 227, 227))
    x = net.conv("data", "conv1", 64, Window(3, stride=2))
    x = net.relu(x, "relu_conv1")
    x = net.max_pool(x, "pool1", 3, 2, ceil=True)
    for index, sizes in _FIRES.items():
        x = _fire(net, x, f"fire{index}", *sizes)
        if index in _POOLED:
            x = net.max_pool(x, f"pool{index}", 3, 2, ceil=True)
    x = net.dropout(x, "drop9")
    x = net.conv(x, "conv10", 1000, 1, std=LOGIT_STD)
    x = net.relu(x, "relu_conv10")
    x = net.global_average_pool(x, "pool10")
    return net.finish(net.softmax(net.flatten(x, "flatten"), "prob"))
