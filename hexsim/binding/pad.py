"""Pad: codes copied into a larger tensor, rescaled only if the output's encoding differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hexsim.binding.call import BoundCall, Codes
from hexsim.binding.requantize import rescale_table
from hexsim.binding.source import Binders, Source
from hexsim.layers import Pad


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundPad(BoundCall):
    """The input lies at `interior` of the output; `fill` is the code of everything else."""

    interior: tuple[slice, ...]
    fill: int
    table: Codes | None


def bind_pad(layer: Pad, source: Source) -> BoundPad:
    """Turn padding into integers."""
    inputs, output = source.ends(layer)
    return BoundPad(
        layer=layer.name,
        inputs=inputs,
        output=output,
        interior=layer.interior(inputs[0].shape),
        fill=int(output.encoding.quantize(np.array([layer.value]))[0]),
        table=rescale_table(inputs[0], output.encoding),
    )


BINDERS: Binders = {Pad: bind_pad}
