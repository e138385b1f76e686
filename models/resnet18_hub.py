"""ResNet-18 as in torchvision, 224x224, with the input normalisation inside.

Qualcomm AI Hub Models exports it so (qai_hub_models, resnet18): pictures of 0 .. 1 come in.
"""

from __future__ import annotations

from . import _resnet
from ._built import BuiltModel


def build() -> BuiltModel:
    """Return ResNet-18, whose output is 1000 logits."""
    return _resnet.build("resnet18_hub", _resnet.basic, (2, 2, 2, 2), standardised=True)
