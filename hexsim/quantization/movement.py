"""Which layers only move codes: their output has the encoding of their input, whatever it holds."""

from __future__ import annotations

from hexsim.graph.ir import Layer
from hexsim.layers import ChannelShuffle, Permute, Pooling, Reshape


def moves_codes(layer: Layer) -> bool:
    """True if the layer's output holds nothing but codes of its input."""
    if isinstance(layer, Pooling):
        return layer.kind == "max"
    return isinstance(layer, Reshape | Permute | ChannelShuffle)
