"""Strided slice: some of the codes are copied, rescaled only if the output's encoding differs."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import StridedSlice
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSlice(LoweredCall):
    """`selection` has one slice for each stored axis of the input."""

    selection: tuple[slice, ...]
    table: Codes | None


def lower_slice(layer: StridedSlice, source: QuantizedSource) -> LoweredSlice:
    """Turn a slice into integers."""
    inputs, output = source.operands(layer)
    return LoweredSlice(
        layer=layer.name,
        inputs=inputs,
        output=output,
        selection=layer.selection(len(inputs[0].shape)),
        table=rescale_table(inputs[0], output.encoding),
    )


LOWERINGS: Lowerings = {StridedSlice: lower_slice}
