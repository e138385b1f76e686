"""Convert: every code of the input has one code in the output's encoding."""

from __future__ import annotations

import numpy as np

from hexsim.layers import Convert
from hexsim.lowering.lookup import BoundLookup
from hexsim.lowering.requantize import rescale_table
from hexsim.lowering.source import Binders, Source


def bind_convert(layer: Convert, source: Source) -> BoundLookup:
    """Turn a change of encoding into a table: the rescale rule at each code."""
    (x,), output = source.ends(layer)
    table = rescale_table(x, output.encoding)
    if table is None:
        table = np.arange(x.encoding.steps + 1).astype(output.encoding.dtype)
    return BoundLookup(layer=layer.name, inputs=(x,), output=output, tables=table.reshape(1, -1))


BINDERS: Binders = {Convert: bind_convert}
