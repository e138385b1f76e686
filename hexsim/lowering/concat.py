"""Concat: inputs are rescaled to the output's encoding where theirs differs, then joined."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import Concat
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.rescale import joined_table
from hexsim.lowering.source import Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredConcat(LoweredCall):
    """Inputs are joined along stored axis `axis`; `tables` are None for inputs that are copied."""

    axis: int
    tables: tuple[Codes | None, ...]


def lower_concat(layer: Concat, source: QuantizedSource) -> LoweredConcat:
    """Turn a concatenation into integers."""
    inputs, output = source.operands(layer)
    return LoweredConcat(
        layer=layer.name,
        inputs=inputs,
        output=output,
        axis=layer.axis,
        tables=tuple(joined_table(x, output.encoding) for x in inputs),
    )


LOWERINGS: Lowerings = {Concat: lower_concat}
