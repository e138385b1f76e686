"""Tables of all codes, one for a tensor or one per channel.

UserDefined: the user's function of codes, which one thread calls.
"""

import numpy as np

from hexsim.int8.machine_code.arguments import ALIGNMENT
from hexsim.int8.machine_code.features import use_vectors
from hexsim.int8.machine_code.inner_loops.codes import look_up_codes
from hexsim.int8.machine_code.jit import kernel, template
from hexsim.int8.step import ROWS, Buffers, Out, Preparers, Step, Steps, unpacked
from hexsim.lowering.functions import LoweredLookup, LoweredUserDefined
from hexsim.lowering.lowered_call import Codes
from hexsim.udl.calling import coded_values

_BYTES = 1024
"""The least number of codes in a piece; whole vectors and cache lines."""


@unpacked
def lookup(call: LoweredLookup, at: Buffers) -> Steps:
    """A table lookup, for Neuron or Prelu."""
    return [look_up(at.inputs[0], call.tables, at.output)]


def look_up(codes: Out, tables: Codes, out: Out) -> Step:
    """Return the step that replaces each code by its entry.

    `tables` is (1, codes) or (channels of the last axis, codes). `codes` and `out` are C-contiguous
    and may be the same array.
    """
    narrow = codes.dtype == tables.dtype == np.uint8
    if narrow and len(tables) == 1 and use_vectors():
        flat = (codes.reshape(-1), tables[0], out.reshape(-1), *ROWS)
        return Step(_look_up_bytes, flat, codes.size, grain=_BYTES)
    rows = codes.reshape(-1, len(tables))
    arguments = (rows, tables, out.reshape(rows.shape), *ROWS)
    return Step(_look_up(codes.dtype, tables.dtype), arguments, len(rows), grain=ALIGNMENT)


@template("void({0}[:,::1],{1}[:,::1],{1}[:,::1],int64,int64)")
def _look_up(codes: Codes, tables: Codes, out: Codes, first: int, last: int) -> None:
    for row in range(first, last):
        for channel in range(codes.shape[1]):
            out[row, channel] = tables[channel, codes[row, channel]]


@kernel("void(uint8[::1],uint8[::1],uint8[::1],int64,int64)")
def _look_up_bytes(codes: Codes, table: Codes, out: Codes, first: int, last: int) -> None:
    codes_at, out_at = codes.ctypes.data + first, out.ctypes.data + first
    done = look_up_codes(last - first, codes_at, table.ctypes.data, out_at)
    for at in range(first + done, last):
        out[at] = table[codes[at]]


@unpacked
def user_defined(call: LoweredUserDefined, at: Buffers) -> Steps:
    """The function itself, in Python."""
    inputs, output, _ = at
    arguments = [
        inputs[argument] if isinstance(argument, int) else argument for argument in call.arguments
    ]

    def work() -> None:
        output[...] = coded_values(call.definition, call.node, arguments)

    return [work]


PREPARERS: Preparers = {LoweredLookup: lookup, LoweredUserDefined: user_defined}
