"""The inner loop of a depthwise convolution as LLVM IR: a few pixels of 16 channels in registers.

A step is a pair of taps: the int16 activations of two taps are interleaved channel by channel, and
`vpmaddwd` multiplies them by the pair's weights and adds the two products. Interleaving stays
within the 128-bit halves of a register, so that the sums of channels 0 1 2 3 8 9 10 11 and
4 5 6 7 12 13 14 15 come together; weights and constants are packed in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from hexsim.int8.machine_code.inner_loops.microkernel import PAIRS, Factors, RegisterTile
from hexsim.int8.machine_code.vector_ir import INT64, WORD, call, load, repeat, shuffled
from hexsim.int8.panel import COLUMNS, STEP_BYTES

BY_CHANNEL = RegisterTile(4, 1, 8, PAIRS.instruction)
"""8 accumulators, 2 vectors of weights and 4 in passing, of 16 registers."""

_HALVES = ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))
"""Channels whose sums are in the first and in the second vector."""
ORDER = _HALVES[0] + _HALVES[1]
"""The channel of each column of packed weights."""

_VALUES = ir.VectorType(WORD, COLUMNS)
_VALUE_BYTES = 2 * COLUMNS


def summed_by_channel(
    builder: Any, tile: RegisterTile, panels: int, factors: Factors, sums: Sequence[Any]
) -> list[Any]:
    """The same as `microkernel.summed` for steps of two taps, each of which has an offset."""

    def pair(state: list[Any]) -> list[Any]:
        offsets, weights, *before = state
        taps = [load(builder, builder.add(offsets, INT64(8 * tap)), INT64) for tap in range(2)]
        halves = [
            load(builder, builder.add(weights, INT64(_VALUE_BYTES * half)), _VALUES)
            for half in range(2)
        ]
        after = []
        for row, base in enumerate(factors.bases):
            x, y = (load(builder, builder.add(base, tap), _VALUES) for tap in taps)
            for half, weight in enumerate(halves):
                lanes = [lane for c in _HALVES[half] for lane in (c, COLUMNS + c)]
                both = shuffled(builder, x, y, lanes)
                product = call(builder, tile.instruction, tile.sums, both, weight)
                after.append(builder.add(before[2 * row + half], product))
        return [
            builder.add(offsets, INT64(16)),
            builder.add(weights, INT64(STEP_BYTES * COLUMNS)),
            *after,
        ]

    return repeat(builder, factors.ones, [factors.offsets, factors.weights, *sums], pair)[2:]
