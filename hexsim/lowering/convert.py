"""Convert: every code of the input has one code in the output's encoding."""

from __future__ import annotations

import numpy as np

from hexsim.layers import Convert
from hexsim.lowering.lookup import LoweredLookup
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Lowerings, QuantizedSource


def lower_convert(layer: Convert, source: QuantizedSource) -> LoweredLookup:
    """Turn a change of encoding into a table: the rescale rule at each code."""
    (x,), output = source.operands(layer)
    table = rescale_table(x, output.encoding)
    if table is None:
        table = np.arange(x.encoding.steps + 1).astype(output.encoding.dtype)
    return LoweredLookup(layer=layer.name, inputs=(x,), output=output, tables=table.reshape(1, -1))


LOWERINGS: Lowerings = {Convert: lower_convert}
