"""Reshape, permute, channel shuffle, depth to space and back: codes move to other positions.

All of them view the input in the shape `split`, permute its axes, and view the result in the
output's shape. Codes are rescaled only if the output's encoding differs.
"""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.graph.ir import Shape
from hexsim.layers import ChannelShuffle, DepthToSpace, Permute, Reshape, SpaceToDepth
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource

Rearrangement = Reshape | Permute | ChannelShuffle | DepthToSpace | SpaceToDepth


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredRearrange(LoweredCall):
    """Axis i of the permuted `split` view is its axis `permutation[i]`."""

    split: Shape
    permutation: tuple[int, ...]
    table: Codes | None


def lower_rearrange(layer: Rearrangement, source: QuantizedSource) -> LoweredRearrange:
    """Turn a layer that moves codes into integers."""
    inputs, output = source.operands(layer)
    split = inputs[0].shape
    permutation = tuple(range(len(split)))
    if isinstance(layer, Permute):
        permutation = layer.permutation
    elif isinstance(layer, ChannelShuffle):
        last = len(split) - 1
        split = (*split[:-1], layer.groups, split[-1] // layer.groups)
        permutation = (*range(last), last + 1, last)
    elif isinstance(layer, DepthToSpace | SpaceToDepth):
        split, permutation = layer.view(split)
    return LoweredRearrange(
        layer=layer.name,
        inputs=inputs,
        output=output,
        split=split,
        permutation=permutation,
        table=rescale_table(inputs[0], output.encoding),
    )


LOWERINGS: Lowerings = {
    ChannelShuffle: lower_rearrange,
    DepthToSpace: lower_rearrange,
    Permute: lower_rearrange,
    Reshape: lower_rearrange,
    SpaceToDepth: lower_rearrange,
}
