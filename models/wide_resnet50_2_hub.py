"""Wide ResNet-50-2 as in torchvision, 224x224, with the input normalisation inside.

Zagoruyko and Komodakis, "Wide Residual Networks", 2016: ResNet-50 whose 3x3 convolutions have
twice the channels. Qualcomm AI Hub Models exports it so (qai_hub_models, wideresnet50): pictures
of 0 .. 1 come in.
"""

from __future__ import annotations

from functools import partial

from . import _resnet
from ._built import BuiltModel


def build() -> BuiltModel:
    """Return Wide ResNet-50-2, whose output is 1000 logits."""
    block = partial(_resnet.bottleneck, widening=2)
    return _resnet.build("wide_resnet50_2_hub", block, (3, 4, 6, 3), standardised=True)
