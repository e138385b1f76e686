"""Reduce: sum and mean are sums whose step contains the division; extremes compare codes.

A maximum or minimum is rescaled if the encodings differ. Of the equal codes of an ArgExtremum the
first counts; a table turns its position into a code.
"""

from typing import Literal

import numpy as np

from hexsim.errors import HexsimError
from hexsim.layers import ArgExtremum, Reduce
from hexsim.lowering.headroom import largest_distance, requantize_sums
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.lowering.requantize import Requantize, moved_table
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.records import dataclass

_MOST = (1 << 31) // 255
"""The most codes of 8 bits, or bytes of wider codes, that an int32 adds up."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredReduceSum(LoweredCall):
    """The sums run along the stored axes `axes`; `stage` has one entry."""

    axes: tuple[int, ...]
    stage: Requantize


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredReduceExtremum(LoweredCall):
    """The extremes are taken along the stored axes `axes`; `table`, if not None, rescales them."""

    kind: Literal["max", "min"]
    axes: tuple[int, ...]
    table: Codes | None


def lower_reduce(
    layer: Reduce, source: QuantizedSource
) -> LoweredReduceSum | LoweredReduceExtremum:
    """Turn a reduction into integers; HexsimError for a sum that an int32 might not hold."""
    call = source.operands(layer)
    if layer.kind == "max" or layer.kind == "min":
        return LoweredReduceExtremum(
            *call, kind=layer.kind, axes=layer.axes, table=moved_table(call)
        )
    count = layer.count(call.inputs[0].shape)
    if count > _MOST:
        raise HexsimError(
            f"layer '{layer.name}' adds {count} codes up, the integer kernel {_MOST} at most; "
            "run the layer on the cpu"
        )
    return LoweredReduceSum(
        *call,
        axes=layer.axes,
        stage=requantize_sums(
            layer.name,
            call.inputs[0].delta / (count if layer.kind == "mean" else 1),
            count * largest_distance(call.inputs[0]),
            call.output.encoding,
            fraction_bits=call.inputs[0].bits - 8,
        ),
    )


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


LOWERINGS: Lowerings = {Reduce: lower_reduce, ArgExtremum: lower_arg_extremum}
