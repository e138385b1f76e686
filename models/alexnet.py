"""AlexNet as in BVLC's bvlc_alexnet: 227x227, grouped convolutions, LRN before pooling.

Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012;
layer names and sizes after the Caffe prototxt.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, LRN_STD, Builder
from ._built import BuiltModel
from ._window import Window


def build() -> BuiltModel:
    """Return bvlc AlexNet with a softmax over 1000 classes."""
    net = Builder("alexnet", "data", (1, 3, 227, 227))
    x = net.conv("data", "conv1", 96, Window(11, stride=4), std=LRN_STD)
    x = net.relu(x, "relu1")
    x = net.local_response_norm(x, "norm1")
    x = net.max_pool(x, "pool1", 3, 2)
    x = net.conv(x, "conv2", 256, Window(5, pads=2), groups=2, std=LRN_STD)
    x = net.relu(x, "relu2")
    x = net.local_response_norm(x, "norm2")
    x = net.max_pool(x, "pool2", 3, 2)
    for index, channels, groups in ((3, 384, 1), (4, 384, 2), (5, 256, 2)):
        x = net.conv(x, f"conv{index}", channels, Window(3, pads=1), groups=groups)
        x = net.relu(x, f"relu{index}")
    x = net.max_pool(x, "pool5", 3, 2)
    x = net.flatten(x, "flatten")
    for index in (6, 7):
        x = net.fully_connected(x, f"fc{index}", 4096)
        x = net.relu(x, f"relu{index}")
        x = net.dropout(x, f"drop{index}")
    x = net.fully_connected(x, "fc8", 1000, std=LOGIT_STD)
    return net.finish(net.softmax(x, "prob"))
