"""Queries, keys and values of one attention layer: three 1x1 convolutions of 50 positions.

720 channels become 15 heads of queries and 5 of keys and values, each of 64 channels, without
bias. As XPU-RT measured it, a tile of a larger model; how its 1600 outputs divide is inferred from
that model.
"""

from __future__ import annotations

from ._builder import Builder
from ._built import BuiltModel

_HEAD = 64


def build() -> BuiltModel:
    """Return the three projections, each an output."""
    net = Builder("attention_qkv_720", "input", (1, 720, 1, 50))
    heads = {"query": 15, "key": 5, "value": 5}
    return net.finish(
        *(net.conv("input", name, n * _HEAD, 1, bias=False) for name, n in heads.items())
    )
