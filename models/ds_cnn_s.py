"""DS-CNN, small: twelve spoken words from 49 frames of ten cepstral coefficients.

Zhang et al., "Hello Edge: Keyword Spotting on Microcontrollers", 2017, the small one of table 5:
a convolution of 10x4 by steps of two, four depthwise separable blocks of 64 channels, an average.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

_CHANNELS = 64


def _norm_relu(net: Builder, x: str) -> str:
    return net.relu(net.batch_norm(x, f"{x}/bn"), f"{x}/relu")


def build() -> BuiltModel:
    """Return DS-CNN-S with a softmax over twelve classes."""
    net = Builder("ds_cnn_s", "mfcc", (1, 1, 49, 10))
    first = Window((10, 4), 2, pads=(4, 1, 5, 1))
    x = _norm_relu(net, net.conv("mfcc", "conv", _CHANNELS, first, bias=False))
    for block in range(1, 5):
        name = f"block{block}"
        same = Window.centred(3)
        x = net.conv(x, f"{name}/depthwise", _CHANNELS, same, groups=_CHANNELS, bias=False)
        x = _norm_relu(net, x)
        x = _norm_relu(net, net.conv(x, f"{name}/pointwise", _CHANNELS, 1, bias=False))
    x = net.flatten(net.global_average_pool(x, "average"), "flat")
    return net.finish(net.softmax(net.fully_connected(x, "words", 12, std=LOGIT_STD), "answer"))
