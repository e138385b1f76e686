"""Tables of all codes, one for a tensor or one per channel."""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.binding.call import Codes
from hexsim.binding.lookup import BoundLookup
from hexsim.int8.jit import template
from hexsim.int8.prepared import Out


class PreparedLookup:
    """Neuron or Prelu."""

    def __init__(self, call: BoundLookup) -> None:
        self._tables = call.tables

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        look_up(inputs[0], self._tables, output)


def look_up(codes: Out, tables: Codes, out: Out) -> None:
    """Replace each code by its entry; `tables` is (1, codes) or (channels of the last axis, codes).

    `codes` and `out` are C-contiguous and may be the same array.
    """
    kernel = _look_up(codes.dtype, tables.dtype)
    kernel(codes.reshape(-1, len(tables)), tables, out.reshape(-1, len(tables)))


@template("void({0}[:,::1],{1}[:,::1],{1}[:,::1])")
def _look_up(codes: Codes, tables: Codes, out: Codes) -> None:
    for row in range(codes.shape[0]):
        for channel in range(codes.shape[1]):
            out[row, channel] = tables[channel, codes[row, channel]]
