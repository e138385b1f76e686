"""MobileNetV2 2.0 224 as in TensorFlow: every width doubled, "same" padding.

1001 classes: one for background. Left out: TensorFlow writes the classifier as a 1x1 convolution.
"""

from __future__ import annotations

from ._built import BuiltModel
from ._mobilenet_v2 import Family
from ._window import Window


def build() -> BuiltModel:
    """Return MobileNetV2 of twice the width, whose output is 1001 logits."""
    return Family(Window.same, width=2, classes=1001).build("mobilenet_v2_2_0")
