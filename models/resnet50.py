"""ResNet-50 v1.5, 224x224: bottlenecks that stride in their 3x3 convolution, as in torchvision."""

from __future__ import annotations

from . import _resnet
from ._built import BuiltModel


def build() -> BuiltModel:
    """Return ResNet-50 v1.5, whose output is 1000 logits."""
    return _resnet.build("resnet50", _resnet.bottleneck, (3, 4, 6, 3))
