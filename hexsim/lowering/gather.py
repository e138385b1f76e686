"""Gather: codes taken from given positions, rescaled only if the output's encoding differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hexsim.layers import Gather
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredGather(LoweredCall):
    """Along each axis of `places`, position i is the input's position `places[axis][i]`."""

    places: tuple[tuple[int, Int32], ...]
    table: Codes | None


def lower_gather(layer: Gather, source: QuantizedSource) -> LoweredGather:
    """Turn a gather into integers."""
    inputs, output = source.operands(layer)
    return LoweredGather(
        layer=layer.name,
        inputs=inputs,
        output=output,
        places=((layer.axis, places(layer.indices)),),
        table=rescale_table(inputs[0], output.encoding),
    )


def places(positions: Sequence[int]) -> Int32:
    """Return positions as kernels read them."""
    return np.array(positions, np.int32)


LOWERINGS: Lowerings = {Gather: lower_gather}
