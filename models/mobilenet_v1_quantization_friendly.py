"""MobileNetV1 1.0 224 made for int8: the quantisation-friendly separable convolution."""

from ._built import BuiltModel
from .mobilenet_v1 import NETWORK


def build() -> BuiltModel:
    """Return the network with a softmax over 1000 classes."""
    return NETWORK.build("mobilenet_v1_quantization_friendly", friendly=True)
