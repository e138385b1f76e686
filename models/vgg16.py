"""VGG-16 (configuration D), 224x224: thirteen 3x3 convolutions and three dense layers.

Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition",
2014, table 1; layer names after the authors' Caffe release.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

# Convolutions and channels of each stage.
_STAGES = ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512))


def build() -> BuiltModel:
    """Return VGG-16 with a softmax over 1000 classes."""
    net = Builder("vgg16", "data", (1, 3, 224, 224))
    x = "data"
    for stage, (repeats, channels) in enumerate(_STAGES, start=1):
        for index in range(1, repeats + 1):
            x = net.conv(x, f"conv{stage}_{index}", channels, Window(3, pads=1))
            x = net.relu(x, f"relu{stage}_{index}")
        x = net.max_pool(x, f"pool{stage}", 2, 2)
    x = net.flatten(x, "flatten")
    for index in (6, 7):
        x = net.fully_connected(x, f"fc{index}", 4096)
        x = net.relu(x, f"relu{index}")
        x = net.dropout(x, f"drop{index}")
    x = net.fully_connected(x, "fc8", 1000, std=LOGIT_STD)
    return net.finish(net.softmax(x, "prob"))
