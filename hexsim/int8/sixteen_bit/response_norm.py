"""LocalResponseNorm of 16-bit codes: the rule of the 8-bit one, in 64 bits and whole arrays."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.sixteen_bit.by_bytes import Stage16
from hexsim.int8.step import Work, Workspace
from hexsim.lowering.local_response_norm import OCTAVE_BITS, LoweredLocalResponseNorm
from hexsim.lowering.lowered_call import Codes, Int64


class Prepared16ResponseNorm:
    """Normalisation across the channels around each channel."""

    def __init__(self, call: LoweredLocalResponseNorm) -> None:
        self._zero_point = call.inputs[0].zero_point
        self._size = call.size
        self._powers = call.powers.astype(np.int64)
        self._finish = Stage16(call, [0])

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        return [partial(self._run, inputs[0], output)]

    def _run(self, codes: Codes, output: Out) -> None:
        distance = codes.astype(np.int64) - self._zero_point
        behind = (self._size - 1) // 2
        padding = [(0, 0)] * (distance.ndim - 1)
        padding.append((behind + 1, self._size - 1 - behind))
        running = np.cumsum(np.pad(distance * distance, padding), axis=-1)
        squares = running[..., self._size :] - running[..., : -self._size]
        self._finish((distance * self._power(squares))[np.newaxis], output)

    def _power(self, squares: Int64) -> Int64:
        """Interpolate the table of powers at sums of squares, any shape."""
        _, octave = np.frexp(squares.astype(np.float64))  # exact: sums have fewer than 53 bits
        bits = np.maximum(octave.astype(np.int64) - 1 - OCTAVE_BITS, 0)
        knot = (bits << OCTAVE_BITS) + (squares >> bits)
        rest = squares & ((np.int64(1) << bits) - 1)
        half = (np.int64(1) << bits) >> 1
        below = self._powers[knot]
        power: Int64 = below + (((self._powers[knot + 1] - below) * rest + half) >> bits)
        return power


PREPARERS_16BIT: Preparers = {LoweredLocalResponseNorm: Prepared16ResponseNorm}
