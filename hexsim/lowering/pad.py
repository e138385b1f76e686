"""Pad: codes copied into a larger tensor, rescaled only if the output's encoding differs.

A mode that repeats the input takes every code from a position of the input, so it is a gather.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hexsim.layers import Pad
from hexsim.lowering.gather import LoweredGather, places
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredPad(LoweredCall):
    """The input lies at `interior` of the output; `fill` is the code of everything else."""

    interior: tuple[slice, ...]
    fill: int
    table: Codes | None


def lower_pad(layer: Pad, source: QuantizedSource) -> LoweredPad | LoweredGather:
    """Turn padding into integers."""
    inputs, output = source.operands(layer)
    if layer.mode != "constant":
        sizes = enumerate(inputs[0].shape)
        padded = [(axis, size) for axis, size in sizes if layer.begins[axis] or layer.ends[axis]]
        return LoweredGather(
            layer=layer.name,
            inputs=inputs,
            output=output,
            places=tuple((axis, places(layer.positions(axis, size))) for axis, size in padded),
            table=rescale_table(inputs[0], output.encoding),
        )
    return LoweredPad(
        layer=layer.name,
        inputs=inputs,
        output=output,
        interior=layer.interior(inputs[0].shape),
        fill=int(output.encoding.quantize(np.array([layer.value]))[0]),
        table=rescale_table(inputs[0], output.encoding),
    )


LOWERINGS: Lowerings = {Pad: lower_pad}
