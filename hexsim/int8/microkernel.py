"""The inner loop of a matrix product as LLVM IR: a tile of pixels by channels in registers.

Accumulators stay in registers for the whole sum. Each step takes four bytes of activations of every
pixel, broadcast, and four bytes of weights of every channel, and adds their products to int32:

- int16 activations: two, by `vpmaddwd`, for any weights of 9 bits;
- u8 activations: four, by `vpdpbusd`, for signed 8-bit weights.

Both are exact and wrap modulo 2^32. The type of the activations selects the instruction, and the
CPU's features the width of the registers. docs/int8-kernels.md has the drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.features import compiled_features

COLUMNS = 16
"""Output channels per panel of weights."""
STEP_BYTES = 4
"""Bytes of one pixel's activations, and of one channel's weights, that a step multiplies."""


@dataclass(frozen=True)
class Tile:
    """`rows` pixels by `panels` panels, in registers of `lanes` int32."""

    rows: int
    panels: int
    lanes: int
    instruction: str


PAIRS = Tile(6, 1, 8, "llvm.x86.avx2.pmadd.wd")
"""12 accumulators of the 16 registers."""
DOTS_256 = Tile(6, 1, 8, "llvm.x86.avx512.vpdpbusd.256")
DOTS_512 = Tile(7, 2, 16, "llvm.x86.avx512.vpdpbusd.512")
"""14 accumulators of the 32 registers; more rows run out of registers for their addresses."""


def tile_of(element_bytes: int) -> Tile:
    """The tile for activations of that size."""
    if element_bytes == 2:
        return PAIRS
    return DOTS_512 if "+avx512vnni" in compiled_features() else DOTS_256


_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def _broadcast(builder: Any, address: Any, kind: Any) -> Any:
    empty = ir.Constant(kind, ir.Undefined)
    step = builder.insert_element(empty, _load(builder, address, _I32), _I32(0))
    return builder.shuffle_vector(step, empty, ir.Constant(kind, [0] * kind.count))


def _multiply_add(builder: Any, tile: Tile, total: Any, x: Any, y: Any) -> Any:
    kind = total.type
    if tile is not PAIRS:
        return builder.call(_declared(builder, tile, kind, [kind] * 3), [total, x, y])
    pairs = ir.VectorType(_I16, 2 * tile.lanes)
    operands = [builder.bitcast(x, pairs), builder.bitcast(y, pairs)]
    return builder.add(total, builder.call(_declared(builder, tile, kind, [pairs] * 2), operands))


def _declared(builder: Any, tile: Tile, result: Any, operands: Any) -> Any:
    known = builder.module.globals.get(tile.instruction)
    kind = ir.FunctionType(result, operands)
    return known or ir.Function(builder.module, kind, tile.instruction)


_ARGUMENTS = [types.intp] * 7


@intrinsic  # type: ignore[untyped-decorator]
def multiply_tile(
    typing: Any, x: Any, rows: Any, offsets: Any, taps: Any, steps: Any, weights: Any,
    panel_bytes: Any, tile: Any,
) -> Any:  # fmt: skip
    """Store into `tile` the sums over `taps` runs of `steps` steps of every panel of a tile.

    `x` is the array of activations, for its type. All others are intp, all but the counts
    addresses. `rows` holds the tile's addresses of activations; `offsets` holds `taps` offsets in
    bytes, added to each; `weights` is (panels, taps, steps, COLUMNS, STEP_BYTES), a panel every
    `panel_bytes`; `tile` is int32 (rows, panels, COLUMNS). Both counts are at least 1.
    """
    return types.void(x, *_ARGUMENTS), _for_type(x, whole=True)


@intrinsic  # type: ignore[untyped-decorator]
def multiply_panel(
    typing: Any, x: Any, rows: Any, offsets: Any, taps: Any, steps: Any, weights: Any,
    panel_bytes: Any, tile: Any,
) -> Any:  # fmt: skip
    """The same for one panel; `tile` keeps its layout."""
    return types.void(x, *_ARGUMENTS), _for_type(x, whole=False)


def _for_type(x: Any, *, whole: bool) -> Any:
    tile = tile_of(x.dtype.bitwidth // 8)
    panels = tile.panels if whole else 1

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _multiply(builder, tile, panels, arguments[1:])
        return context.get_dummy_value()

    return generate


def _multiply(builder: Any, shape: Tile, panels: int, arguments: Any) -> None:
    rows, offsets, taps, steps, weights, panel_bytes, tile = arguments
    sum_type = ir.VectorType(_I32, shape.lanes)
    per_panel = COLUMNS // shape.lanes
    vectors = panels * per_panel
    bases = [_load(builder, builder.add(rows, _I64(8 * row)), _I64) for row in range(shape.rows)]
    panel_starts = [builder.mul(panel_bytes, _I64(panel)) for panel in range(panels)]
    entry = builder.block
    tap_loop, step_loop, tap_end, done = (
        builder.append_basic_block(name) for name in ("tap", "step", "tap_end", "done")
    )
    builder.branch(tap_loop)

    builder.position_at_end(tap_loop)
    tap, tap_weights = builder.phi(_I64), builder.phi(_I64)
    tap_sums = [builder.phi(sum_type) for _ in range(shape.rows * vectors)]
    offset = _load(builder, builder.add(offsets, builder.shl(tap, _I64(3))), _I64)
    starts = [builder.add(base, offset) for base in bases]
    builder.branch(step_loop)

    builder.position_at_end(step_loop)
    step, step_weights = builder.phi(_I64), builder.phi(_I64)
    sums = [builder.phi(sum_type) for _ in range(shape.rows * vectors)]
    columns = [
        _load(
            builder,
            builder.add(builder.add(step_weights, start), _I64(STEP_BYTES * shape.lanes * v)),
            sum_type,
        )
        for start in panel_starts
        for v in range(per_panel)
    ]
    position = builder.mul(step, _I64(STEP_BYTES))
    new_sums = list(sums)
    for row, start in enumerate(starts):
        activations = _broadcast(builder, builder.add(start, position), sum_type)
        for v, column in enumerate(columns):
            at = row * vectors + v
            new_sums[at] = _multiply_add(builder, shape, new_sums[at], activations, column)
    next_step = builder.add(step, _I64(1))
    next_weights = builder.add(step_weights, _I64(STEP_BYTES * COLUMNS))
    builder.cbranch(builder.icmp_signed("<", next_step, steps), step_loop, tap_end)

    builder.position_at_end(tap_end)
    next_tap = builder.add(tap, _I64(1))
    builder.cbranch(builder.icmp_signed("<", next_tap, taps), tap_loop, done)

    zeros = [ir.Constant(sum_type, None)] * len(sums)
    _join([tap, tap_weights, *tap_sums], entry, [_I64(0), weights, *zeros])
    _join([tap, tap_weights, *tap_sums], tap_end, [next_tap, next_weights, *new_sums])
    _join([step, step_weights, *sums], tap_loop, [_I64(0), tap_weights, *tap_sums])
    _join([step, step_weights, *sums], step_loop, [next_step, next_weights, *new_sums])

    builder.position_at_end(done)
    line = ir.VectorType(_I32, COLUMNS)
    for row in range(shape.rows):
        for panel in range(panels):
            at = row * vectors + panel * per_panel
            total = new_sums[at]
            if per_panel > 1:  # one store, because what follows loads whole lines
                lanes = ir.Constant(line, list(range(COLUMNS)))
                total = builder.shuffle_vector(total, new_sums[at + 1], lanes)
            place = COLUMNS * (row * shape.panels + panel)
            target = builder.inttoptr(
                builder.add(tile, _I64(STEP_BYTES * place)), line.as_pointer()
            )
            builder.store(total, target).align = 4


def _join(phis: list[Any], block: Any, values: list[Any]) -> None:
    """Give each phi the value it takes when control comes from `block`."""
    for phi, value in zip(phis, values, strict=True):
        phi.add_incoming(value, block)
