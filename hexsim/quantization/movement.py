"""Which layers only move codes: their output has the encoding of their input, whatever it holds."""

from __future__ import annotations

from hexsim.graph.ir import Layer
from hexsim.layers import (
    ChannelShuffle,
    ColourConversion,
    Pad,
    Permute,
    Pooling,
    Reshape,
    Resize,
    StridedSlice,
)


def moves_codes(layer: Layer) -> bool:
    """True if the layer's output holds codes of its input, or (NV21) bytes as its input does."""
    if isinstance(layer, Pooling):
        return layer.kind == "max"
    if isinstance(layer, Resize):
        return layer.kind == "nearest"
    if isinstance(layer, Pad):
        return layer.value == 0  # a code of every encoding
    return isinstance(layer, Reshape | Permute | ChannelShuffle | StridedSlice | ColourConversion)
