"""MobileNetV2 1.0 224 as in torchvision: padding on all sides alike, 1000 classes."""

from __future__ import annotations

from ._built import BuiltModel
from ._mobilenet_v2 import Family
from ._window import Window


def build() -> BuiltModel:
    """Return MobileNetV2, whose output is 1000 logits."""
    return Family(Window.centred).build("mobilenet_v2")
