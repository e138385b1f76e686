"""Tile: codes are repeated, rescaled only if the output's encoding differs."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import Tile
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredTile(LoweredCall):
    """`repeats` has one entry for each stored axis."""

    repeats: tuple[int, ...]
    table: Codes | None


def lower_tile(layer: Tile, source: QuantizedSource) -> LoweredTile:
    """Turn a repetition into integers."""
    inputs, output = source.operands(layer)
    return LoweredTile(
        layer=layer.name,
        inputs=inputs,
        output=output,
        repeats=layer.repeats,
        table=rescale_table(inputs[0], output.encoding),
    )


LOWERINGS: Lowerings = {Tile: lower_tile}
