"""ColourConversion: channels are selected, or NV21 is converted by a matrix of 16-bit integers.

    K    = round(matrix * 2^13)
    code = clamp((K_y * (Y - 16) + K_v * (V - 128) + K_u * (U - 128) + 2^12) >> 13, 0, 255)

The codes of an NV21 input are the bytes themselves; an input of type image guarantees that.
Codes are rescaled afterwards if the output has another encoding.
"""

from dataclasses import dataclass

import numpy as np

from hexsim.errors import HexsimError
from hexsim.layers import ColourConversion
from hexsim.layers.colour_conversion import YVU_TO_BGR
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall, Operand
from hexsim.lowering.requantize import rescale_table, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding

MATRIX_BITS = 13
"""Fraction bits of the matrix (our choice: the most for which 2.018 fits a signed 16-bit lane)."""

BYTES = Encoding.from_range(0, 255)
"""The encoding in which a code is the value: delta 1, offset 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredChannelPick(LoweredCall):
    """Output channel i is input channel `channels[i]`, through `table` unless it is None."""

    channels: tuple[int, ...]
    table: Codes | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredNv21(LoweredCall):
    """`matrix` is (Y V U, blue green red); the result goes through `table` unless it is None."""

    matrix: Int32
    table: Codes | None


def lower_colour_conversion(
    layer: ColourConversion, source: QuantizedSource
) -> LoweredChannelPick | LoweredNv21:
    """Turn a colour conversion into integers; HexsimError if the codes of NV21 are not bytes."""
    call = source.operands(layer)
    _, inputs, output = call
    if layer.channels is not None:
        return LoweredChannelPick(
            *call,
            channels=layer.channels,
            table=rescale_table(inputs[0], output.encoding),
        )
    encoding = inputs[0].encoding
    if (inputs[0].bits, encoding.delta, encoding.offset) != (8, BYTES.delta, BYTES.offset):
        raise HexsimError(
            f"layer '{layer.name}': NV21 input '{inputs[0].name}' has an encoding of delta "
            f"{encoding.delta:g} and offset {encoding.offset}; its codes must be the bytes "
            "(delta 1, offset 0)"
        )
    return LoweredNv21(
        *call,
        matrix=rounded(np.array(YVU_TO_BGR) * (1 << MATRIX_BITS)).astype(np.int32),
        table=rescale_table(Operand(output.name, output.shape, BYTES), output.encoding),
    )


LOWERINGS: Lowerings = {ColourConversion: lower_colour_conversion}
