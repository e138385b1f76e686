"""The inner loop of a depthwise convolution as LLVM IR: pixels by channels in registers.

A step is as many taps as fill four bytes: two of int16 activations, four of codes. The activations
of its taps are interleaved channel by channel, and one instruction multiplies them by the step's
weights and adds the products. Interleaving stays within the 128-bit groups of a register, where it
is cheap: the first register of sums has the first four channels of each group, the next one the
next four. Weights and constants are packed in that order.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from hexsim.int8.machine_code.inner_loops.microkernel import (
    DOTS_512,
    PAIRS,
    Factors,
    RegisterTile,
    multiply_add,
    panel_starts,
)
from hexsim.int8.machine_code.vector_ir import INT64, joined, load, repeat, shuffled
from hexsim.int8.panel import COLUMNS, GROUP, STEP_BYTES

PAIRS_BY_CHANNEL = RegisterTile(4, 1, 8, PAIRS.instruction)
"""8 accumulators, 2 vectors of weights and 4 temporary ones, of 16 registers."""
DOTS_BY_CHANNEL = RegisterTile(4, 4, 16, DOTS_512.instruction)
"""16 accumulators, 4 vectors of weights and 8 temporary ones, of 32 registers."""


def tile_by_channel(element_bytes: int) -> RegisterTile:
    """Return the tile for activations of that size; codes need registers of 64 bytes."""
    return PAIRS_BY_CHANNEL if element_bytes == 2 else DOTS_BY_CHANNEL


def taps_of(tile: RegisterTile) -> int:
    """Return the taps of a step."""
    return 2 if tile is PAIRS_BY_CHANNEL else STEP_BYTES


def order_of(tile: RegisterTile, panels: int) -> list[int]:
    """Return the channel of each sum of `panels` panels that are computed together."""
    vectors = taps_of(tile)
    groups = panels * COLUMNS // (GROUP * vectors)
    quads = (GROUP * (group * vectors + v) for v in range(vectors) for group in range(groups))
    return [quad + lane for quad in quads for lane in range(GROUP)]


def summed_by_channel(
    builder: Any, tile: RegisterTile, panels: int, factors: Factors, sums: Sequence[Any]
) -> list[Any]:
    """Emit what `microkernel.summed` does, for steps of several taps with an offset each."""
    count = taps_of(tile)
    values = ir.VectorType(ir.IntType(8 * STEP_BYTES // count), panels * COLUMNS)
    vectors = panels * COLUMNS // tile.lanes

    def step(state: list[Any]) -> list[Any]:
        offsets, weights, *before = state
        taps = [load(builder, builder.add(offsets, INT64(8 * tap)), INT64) for tap in range(count)]
        columns = [
            load(builder, builder.add(start, INT64(STEP_BYTES * lane)), tile.sums)
            for start in panel_starts(builder, weights, factors.panel_bytes, panels)
            for lane in range(0, COLUMNS, tile.lanes)
        ]
        after = []
        for row, base in enumerate(factors.bases):
            rows = [load(builder, builder.add(base, tap), values) for tap in taps]
            mixed = _interleaved(builder, rows)
            per_column = len(mixed) // vectors
            for v, column in enumerate(columns):
                codes = joined(builder, mixed[per_column * v : per_column * (v + 1)])
                codes = builder.bitcast(codes, tile.sums)
                total = before[vectors * row + v]
                after.append(multiply_add(builder, tile, total, [codes], [column]))
        return [
            builder.add(offsets, INT64(8 * count)),
            builder.add(weights, INT64(STEP_BYTES * COLUMNS)),
            *after,
        ]

    return repeat(builder, factors.ones, [factors.offsets, factors.weights, *sums], step)[2:]


def _interleaved(builder: Any, vectors: Sequence[Any]) -> list[Any]:
    """Return as many vectors: the first elements of each 128-bit group, then the next ones."""
    if len(vectors) == 1:
        return list(vectors)
    half = len(vectors) // 2
    first, second = (_interleaved(builder, part) for part in (vectors[:half], vectors[half:]))
    mixed = []
    for x, y in zip(first, second, strict=True):
        count, size = x.type.count, 128 // x.type.element.width
        wider = ir.VectorType(ir.IntType(2 * x.type.element.width), count // 2)
        for part in range(0, size, size // 2):
            places = [at + lane for at in range(part, count, size) for lane in range(size // 2)]
            lanes = [lane for place in places for lane in (place, count + place)]
            mixed.append(builder.bitcast(shuffled(builder, x, y, lanes), wider))
    return mixed
