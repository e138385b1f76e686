"""Layers that move codes: concat, gather, pad, rearrangements, slices, tiles, colour conversions.

Codes are rescaled only where the output's encoding differs. Reshape, permute, channel shuffle,
depth to space and back are rearrangements: they view the input in the shape `split`, permute its
axes, and view the result in the output's shape. A pad whose mode repeats the input takes every code
from a position of the input, so it is a gather. NV21 is converted by a matrix of 16-bit integers
(docs/reference/arithmetic.md); its codes are the bytes, which an input of type image guarantees.
"""

from collections.abc import Sequence

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.layers import (
    ChannelShuffle,
    ColourConversion,
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
from hexsim.layers.images import YVU_TO_BGR
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall, Operand
from hexsim.lowering.requantize import joined_table, moved_table, rescale_table, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding
from hexsim.records import dataclass

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
    return LoweredRearrange(*call, split=split, permutation=permutation, table=moved_table(call))


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredTile(_Moved):
    """`repeats` has one entry for each stored axis."""

    repeats: tuple[int, ...]


def lower_tile(layer: Tile, source: QuantizedSource) -> LoweredTile:
    """Turn a repetition into integers."""
    call = source.operands(layer)
    return LoweredTile(*call, repeats=layer.repeats, table=moved_table(call))


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSlice(_Moved):
    """`selection` has one slice for each stored axis of the input."""

    selection: tuple[slice, ...]


def lower_slice(layer: StridedSlice, source: QuantizedSource) -> LoweredSlice:
    """Turn a slice into integers."""
    call = source.operands(layer)
    return LoweredSlice(
        *call, selection=layer.selection(len(call.inputs[0].shape)), table=moved_table(call)
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
        *call, places=((layer.axis, places(layer.indices)),), table=moved_table(call)
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
            table=moved_table(call),
        )
    return LoweredPad(
        *call,
        interior=layer.interior(call.inputs[0].shape),
        fill=int(call.output.encoding.quantize(np.array([layer.value]))[0]),
        table=moved_table(call),
    )


MATRIX_BITS = 13
"""Fraction bits of the matrix (our choice: the most for which 2.018 fits a signed 16-bit lane)."""

BYTES = Encoding.from_range(0, 255)
"""The encoding in which a code is the value: delta 1, offset 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredChannelPick(LoweredCall):
    """Output channel i is input channel `channels[i]`, through `table` unless it is None."""

    channels: tuple[int, ...]
    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredNv21(LoweredCall):
    """`matrix` is (Y V U, blue green red); the result goes through `table` unless it is None."""

    matrix: Int32
    table: Codes | None


def lower_colour_conversion(
    layer: ColourConversion, source: QuantizedSource
) -> LoweredChannelPick | LoweredNv21:
    """Turn a colour conversion into integers; HexsimError if the codes of NV21 are not bytes."""
    call = source.operands(layer)
    _, inputs, output = call
    if layer.channels is not None:
        return LoweredChannelPick(
            *call, channels=layer.channels, table=rescale_table(inputs[0], output.encoding)
        )
    encoding = inputs[0].encoding
    if (inputs[0].bits, encoding.delta, encoding.offset) != (8, BYTES.delta, BYTES.offset):
        raise HexsimError(
            f"layer '{layer.name}': NV21 input '{inputs[0].name}' has an encoding of delta "
            f"{encoding.delta:g} and offset {encoding.offset}; its codes must be the bytes "
            "(delta 1, offset 0)"
        )
    return LoweredNv21(
        *call,
        matrix=rounded(np.array(YVU_TO_BGR) * (1 << MATRIX_BITS)).astype(np.int32),
        table=rescale_table(Operand(output.name, output.shape, BYTES), output.encoding),
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
    ColourConversion: lower_colour_conversion,
}
