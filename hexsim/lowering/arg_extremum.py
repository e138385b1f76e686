"""ArgExtremum: codes are compared; of equal codes the first counts.

A table turns the position into a code. With the encoding that the quantiser chooses, steps of one
from zero, the code is the position itself.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hexsim.layers import ArgExtremum
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.source import Lowerings, QuantizedSource


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredArgExtremum(LoweredCall):
    """The search runs along stored axis `axis`; `codes` has the code of every position."""

    kind: Literal["max", "min"]
    axis: int
    codes: Codes


def lower_arg_extremum(layer: ArgExtremum, source: QuantizedSource) -> LoweredArgExtremum:
    """Turn the search for an extremum into integers."""
    call = source.operands(layer)
    positions = np.arange(call.inputs[0].shape[layer.axis], dtype=np.float64)
    return LoweredArgExtremum(
        *call,
        kind=layer.kind,
        axis=layer.axis,
        codes=call.output.encoding.quantize(positions).astype(call.output.encoding.dtype),
    )


LOWERINGS: Lowerings = {ArgExtremum: lower_arg_extremum}
