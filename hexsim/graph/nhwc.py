"""The shape of a tensor of any rank as a batch of images with channels last."""

import math


def as_nhwc(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return (batch, height, width, channels): leading axes filled in with ones, or joined.

    A vector is all channels, a scalar one channel.
    """
    *outer, height, width, channels = (1, 1, 1, *shape)
    return math.prod(outer), height, width, channels
