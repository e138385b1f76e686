"""MobileNetV1 1.0 224 as in TensorFlow's slim models: depthwise separable blocks, ReLU6.

Howard et al., 2017, table 1. 1000 classes, as the paper counts; the released checkpoints have one
more, for background.
"""

from ._built import BuiltModel
from ._separable import Separable

NETWORK = Separable(
    size=224,
    first=32,
    blocks=(
        *((1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512)),
        *((1, 512),) * 5,
        *((2, 1024), (1, 1024)),
    ),
    classes=1000,
)


def build() -> BuiltModel:
    """Return MobileNetV1 with a softmax over 1000 classes."""
    return NETWORK.build("mobilenet_v1")
