"""The inner loop of Winograd's products as LLVM IR: pairs of int16 by `vpmaddwd` or `vpdpwssd`.

It differs from `microkernel` in what it reads: rows lie at one distance from each other, without a
table, and there are so many weights, for so few rows, that reading them decides the time. If they
do not fit a cache, prefetching those of the next product makes products up to 1.8 times as fast.
"""

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code.features import compiled_features
from hexsim.int8.machine_code.inner_loops.microkernel import (
    PAIRS,
    RegisterTile,
    multiply_add,
    panel_starts,
)
from hexsim.int8.machine_code.vector_ir import (
    INT32,
    INT64,
    broadcast,
    constants,
    load,
    prefetch,
    repeat,
    store,
)
from hexsim.int8.panel import COLUMNS, STEP_BYTES

PAIRS_512 = RegisterTile(8, 2, 16, "llvm.x86.avx512.vpdpwssd.512")
"""16 accumulators of the 32 registers; outputs of 13x13 to 16x16 are two times 8 tiles."""


def pair_tile() -> RegisterTile:
    """Return the tile that the CPU's registers allow."""
    return PAIRS_512 if "+avx512vnni" in compiled_features() else PAIRS


@intrinsic  # type: ignore[untyped-decorator]
def multiply_point(
    typing: Any, inputs: Any, row_bytes: Any, steps: Any, weights: Any, panel_bytes: Any,
    products: Any,
) -> Any:  # fmt: skip
    """Store the products of a tile of rows and panels, sums over `steps` (at least 1) steps.

    All arguments are intp. `inputs` is the address of int16 (rows, 2 * steps), a row every
    `row_bytes`; `weights` that of (panels, steps, COLUMNS, 2), a panel every `panel_bytes`;
    `products` that of int32 (rows, panels, COLUMNS).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _multiply(builder, pair_tile(), arguments)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


def _multiply(builder: Any, tile: RegisterTile, arguments: Any) -> None:
    inputs, row_bytes, steps, weights, panel_bytes, products = arguments
    vectors = range(0, STEP_BYTES * COLUMNS, STEP_BYTES * tile.lanes)
    run_bytes = builder.mul(steps, INT64(STEP_BYTES * COLUMNS))

    def step(state: list[Any]) -> list[Any]:
        inputs, weights, *sums = state
        columns = []
        for panel in panel_starts(builder, weights, panel_bytes, tile.panels):
            prefetch(builder, builder.add(panel, run_bytes))
            columns += [load(builder, builder.add(panel, INT64(at)), tile.sums) for at in vectors]
        after = []
        for row in range(tile.rows):
            start = builder.add(inputs, builder.mul(row_bytes, INT64(row)))
            pair = broadcast(builder, load(builder, start, INT32), tile.sums)
            for at, column in enumerate(columns, row * len(columns)):
                after.append(multiply_add(builder, tile, sums[at], [pair], [column]))
        return [
            builder.add(inputs, INT64(STEP_BYTES)),
            builder.add(weights, INT64(STEP_BYTES * COLUMNS)),
            *after,
        ]

    zeros = [constants(tile.sums, 0)] * (tile.rows * tile.panels * len(vectors))
    for at, total in enumerate(repeat(builder, steps, [inputs, weights, *zeros], step)[2:]):
        store(builder, total, builder.add(products, INT64(STEP_BYTES * tile.lanes * at)))
