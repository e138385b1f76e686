"""The inner loop of Winograd's products as LLVM IR: pairs of int16 by `vpmaddwd` or `vpdpwssd`.

It differs from `microkernel` in what it reads: rows lie at one distance from each
other, without a table, and weights are so many, for so few rows, that fetching them decides. While
it multiplies it fetches the weights of the next product, as many bytes behind. Where they do not
fit a cache, that makes products up to 1.8 times as quick; elsewhere it makes no odds.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code.features import compiled_features
from hexsim.int8.machine_code.inner_loops.microkernel import PAIRS, RegisterTile
from hexsim.int8.panel import COLUMNS, STEP_BYTES

PAIRS_512 = RegisterTile(8, 2, 16, "llvm.x86.avx512.vpdpwssd.512")
"""16 accumulators of the 32 registers; outputs of 13x13 to 16x16 are two times 8 tiles."""

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_BYTE = ir.IntType(8)


def pair_tile() -> RegisterTile:
    """The tile that the CPU's registers allow."""
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
    kind = ir.VectorType(_I32, tile.lanes)
    starts = [builder.add(inputs, builder.mul(row_bytes, _I64(row))) for row in range(tile.rows)]
    panels = [
        builder.add(weights, builder.mul(panel_bytes, _I64(panel))) for panel in range(tile.panels)
    ]
    vector_bytes = STEP_BYTES * tile.lanes
    vectors = range(0, STEP_BYTES * COLUMNS, vector_bytes)
    run_bytes = builder.mul(steps, _I64(STEP_BYTES * COLUMNS))
    entry, loop = builder.block, builder.append_basic_block("step")
    done = builder.append_basic_block("done")
    builder.branch(loop)

    builder.position_at_end(loop)
    step = builder.phi(_I64)
    sums = [builder.phi(kind) for _ in range(tile.rows * tile.panels * len(vectors))]
    line = builder.mul(step, _I64(STEP_BYTES * COLUMNS))
    columns = []
    for panel in panels:
        here = builder.add(panel, line)
        _prefetch(builder, builder.add(here, run_bytes))
        columns += [_load(builder, builder.add(here, _I64(at)), kind) for at in vectors]
    position = builder.mul(step, _I64(STEP_BYTES))
    after = []
    for row, start in enumerate(starts):
        pair = _load(builder, builder.add(start, position), _I32)
        broadcast = builder.shuffle_vector(
            builder.insert_element(ir.Constant(kind, ir.Undefined), pair, _I32(0)),
            ir.Constant(kind, ir.Undefined),
            ir.Constant(kind, None),
        )
        for at, column in enumerate(columns, row * len(columns)):
            after.append(_multiply_add(builder, tile, sums[at], broadcast, column))
    following = builder.add(step, _I64(1))
    builder.cbranch(builder.icmp_signed("<", following, steps), loop, done)
    zeros = [ir.Constant(kind, None)] * len(sums)
    for phi, first, later in zip(
        [step, *sums], [_I64(0), *zeros], [following, *after], strict=True
    ):
        phi.add_incoming(first, entry)
        phi.add_incoming(later, loop)

    builder.position_at_end(done)
    for at, total in enumerate(after):
        place = builder.add(products, _I64(vector_bytes * at))
        builder.store(total, builder.inttoptr(place, kind.as_pointer())).align = STEP_BYTES


def _multiply_add(builder: Any, tile: RegisterTile, total: Any, x: Any, y: Any) -> Any:
    if tile is PAIRS_512:
        return _call(builder, tile.instruction, total.type, [total, x, y])
    words = ir.VectorType(_I16, 2 * tile.lanes)
    pairs = [builder.bitcast(one, words) for one in (x, y)]
    return builder.add(total, _call(builder, tile.instruction, total.type, pairs))


def _prefetch(builder: Any, address: Any) -> None:
    """Bring the cache line at an address into the second level, where there is room for it."""
    reading, second_level, data = _I32(0), _I32(2), _I32(1)
    pointer = builder.inttoptr(address, _BYTE.as_pointer())
    _call(builder, "llvm.prefetch.p0i8", ir.VoidType(), [pointer, reading, second_level, data])


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def _call(builder: Any, name: str, result: Any, operands: list[Any]) -> Any:
    known = builder.module.globals.get(name)
    kind = ir.FunctionType(result, [one.type for one in operands])
    return builder.call(known or ir.Function(builder.module, kind, name), operands)
