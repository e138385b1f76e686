"""Layers that move codes: concat, gather, pad, rearrangements, slices and tiles.

Codes are rescaled only where the output's encoding differs. Reshape, permute, channel shuffle,
depth to space and back are rearrangements: they view the input in the shape `split`, permute its
axes, and view the result in the output's shape. A pad whose mode repeats the input takes every code
from a position of the input, so it is a gather.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.layers import (
    ChannelShuffle,
    Concat,
    DepthToSpace,
    Gather,
    Pad,
    Permute,
    Reshape,
    SpaceToDepth,
    StridedSlice,
    Tile,
)
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.rescale import joined_table
from hexsim.lowering.source import Lowerings, QuantizedSource

Rearrangement = Reshape | Permute | ChannelShuffle | DepthToSpace | SpaceToDepth


@dataclass(frozen=True, kw_only=True, eq=False)
class _Moved(LoweredCall):
    """The input's codes at other positions; `table`, if not None, rescales them."""

    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredRearrange(_Moved):
    """Axis i of the permuted `split` view is its axis `permutation[i]`."""

    split: Shape
    permutation: tuple[int, ...]


def lower_rearrange(layer: Rearrangement, source: QuantizedSource) -> LoweredRearrange:
    """Turn a layer that moves codes into integers."""
    call = source.operands(layer)
    split = call.inputs[0].shape
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
        *call,
        split=split,
        permutation=permutation,
        table=rescale_table(call.inputs[0], call.output.encoding),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredTile(_Moved):
    """`repeats` has one entry for each stored axis."""

    repeats: tuple[int, ...]


def lower_tile(layer: Tile, source: QuantizedSource) -> LoweredTile:
    """Turn a repetition into integers."""
    call = source.operands(layer)
    return LoweredTile(
        *call,
        repeats=layer.repeats,
        table=rescale_table(call.inputs[0], call.output.encoding),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSlice(_Moved):
    """`selection` has one slice for each stored axis of the input."""

    selection: tuple[slice, ...]


def lower_slice(layer: StridedSlice, source: QuantizedSource) -> LoweredSlice:
    """Turn a slice into integers."""
    call = source.operands(layer)
    return LoweredSlice(
        *call,
        selection=layer.selection(len(call.inputs[0].shape)),
        table=rescale_table(call.inputs[0], call.output.encoding),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredConcat(LoweredCall):
    """Inputs are joined along stored axis `axis`; `tables` are None for inputs that are copied."""

    axis: int
    tables: tuple[Codes | None, ...]


def lower_concat(layer: Concat, source: QuantizedSource) -> LoweredConcat:
    """Turn a concatenation into integers."""
    call = source.operands(layer)
    return LoweredConcat(
        *call,
        axis=layer.axis,
        tables=tuple(joined_table(x, call.output.encoding) for x in call.inputs),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredGather(_Moved):
    """Along each axis of `places`, position i is the input's position `places[axis][i]`."""

    places: tuple[tuple[int, Int32], ...]


def lower_gather(layer: Gather, source: QuantizedSource) -> LoweredGather:
    """Turn a gather into integers."""
    call = source.operands(layer)
    return LoweredGather(
        *call,
        places=((layer.axis, places(layer.indices)),),
        table=rescale_table(call.inputs[0], call.output.encoding),
    )


def places(positions: Sequence[int]) -> Int32:
    """Return positions as kernels read them."""
    return np.array(positions, np.int32)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredPad(_Moved):
    """The input lies at `interior` of the output; `fill` is the code of everything else."""

    interior: tuple[slice, ...]
    fill: int


def lower_pad(layer: Pad, source: QuantizedSource) -> LoweredPad | LoweredGather:
    """Turn padding into integers."""
    call = source.operands(layer)
    if layer.mode != "constant":
        sizes = enumerate(call.inputs[0].shape)
        padded = [(axis, size) for axis, size in sizes if layer.begins[axis] or layer.ends[axis]]
        return LoweredGather(
            *call,
            places=tuple((axis, places(layer.positions(axis, size))) for axis, size in padded),
            table=rescale_table(call.inputs[0], call.output.encoding),
        )
    return LoweredPad(
        *call,
        interior=layer.interior(call.inputs[0].shape),
        fill=int(call.output.encoding.quantize(np.array([layer.value]))[0]),
        table=rescale_table(call.inputs[0], call.output.encoding),
    )


LOWERINGS: Lowerings = {
    ChannelShuffle: lower_rearrange,
    DepthToSpace: lower_rearrange,
    Permute: lower_rearrange,
    Reshape: lower_rearrange,
    SpaceToDepth: lower_rearrange,
    Tile: lower_tile,
    StridedSlice: lower_slice,
    Concat: lower_concat,
    Gather: lower_gather,
    Pad: lower_pad,
}
