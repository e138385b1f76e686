"""The inner loop of a matrix product of bytes that cannot saturate, for AVX2 without VNNI.

`vpmaddubsw` multiplies u8 by s8 and adds two products, saturating at 16 bits. `guarded_panels`
packs weights so that no sum can get there, whatever the activations: then two such sums of two
steps are added in 16 bits, and one `vpmaddwd` by ones adds them to int32. Five instructions for
eight products of a channel, where pairs of int16 take eight.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.microkernel import COLUMNS

ROWS = 4
"""Pixels per tile: 8 accumulators, 4 vectors of weights, ones and 3 in passing, of 16 registers."""

_LANES = 8
_VECTORS = COLUMNS // _LANES
_VECTOR_BYTES = 32
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SUMS = ir.VectorType(_I32, _LANES)
_WORDS = ir.VectorType(ir.IntType(16), 2 * _LANES)
_BYTES = ir.VectorType(ir.IntType(8), _VECTOR_BYTES)


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def _call(builder: Any, name: str, result: Any, x: Any, y: Any) -> Any:
    known = builder.module.globals.get(name)
    kind = ir.FunctionType(result, [x.type, y.type])
    return builder.call(known or ir.Function(builder.module, kind, name), [x, y])


def _step(builder: Any, base: Any, offset: Any) -> Any:
    empty = ir.Constant(_SUMS, ir.Undefined)
    first = builder.insert_element(empty, _load(builder, builder.add(base, offset), _I32), _I32(0))
    zeros = ir.Constant(_SUMS, [0] * _LANES)
    return builder.bitcast(builder.shuffle_vector(first, empty, zeros), _BYTES)


@intrinsic  # type: ignore[untyped-decorator]
def multiply_guarded(
    typing: Any, rows: Any, offsets: Any, twos: Any, ones: Any, weights: Any, tile: Any
) -> Any:
    """Store into `tile` the sums of one panel over `twos` pairs of steps, then `ones` single steps.

    All arguments are intp; all but the counts are addresses. `rows` holds ROWS addresses of u8;
    `offsets` holds the offset in bytes of each step, added to each; `weights` is int8 (steps,
    COLUMNS, 4); `tile` is int32 (ROWS, COLUMNS).
    """
    return types.void(*[types.intp] * 6), _multiply_guarded


def _multiply_guarded(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, offsets, twos, ones, weights, tile = arguments
    bases = [_load(builder, builder.add(rows, _I64(8 * row)), _I64) for row in range(ROWS)]
    state = [offsets, weights, *[ir.Constant(_SUMS, None)] * (ROWS * _VECTORS)]
    state = _loop(builder, bases, twos, 2, state)
    _, _, *sums = _loop(builder, bases, ones, 1, state)
    line = ir.VectorType(_I32, COLUMNS)
    lanes = ir.Constant(line, list(range(COLUMNS)))
    for row in range(ROWS):
        total = builder.shuffle_vector(*sums[_VECTORS * row : _VECTORS * (row + 1)], lanes)
        place = builder.add(tile, _I64(4 * COLUMNS * row))
        builder.store(total, builder.inttoptr(place, line.as_pointer())).align = 4
    return context.get_dummy_value()


def _loop(builder: Any, bases: list[Any], count: Any, together: int, before: list[Any]) -> Any:
    """Multiply `count` times `together` steps; state is offsets, weights and sums."""
    entry, loop = builder.block, builder.append_basic_block("step")
    done = builder.append_basic_block("steps_done")
    builder.cbranch(builder.icmp_signed(">", count, _I64(0)), loop, done)

    builder.position_at_end(loop)
    at = builder.phi(_I64)
    state = [builder.phi(value.type) for value in before]
    offsets, weights, *sums = state
    steps = [_load(builder, builder.add(offsets, _I64(8 * step)), _I64) for step in range(together)]
    columns = [
        [
            _load(
                builder, builder.add(weights, _I64(_VECTOR_BYTES * (_VECTORS * step + v))), _BYTES
            )
            for v in range(_VECTORS)
        ]
        for step in range(together)
    ]
    unit = ir.Constant(_WORDS, [1] * _WORDS.count)
    after = [
        builder.add(offsets, _I64(8 * together)),
        builder.add(weights, _I64(_VECTOR_BYTES * _VECTORS * together)),
    ]
    for row, base in enumerate(bases):
        activations = [_step(builder, base, offset) for offset in steps]
        for v in range(_VECTORS):
            products = [
                _call(builder, "llvm.x86.avx2.pmadd.ub.sw", _WORDS, x, column[v])
                for x, column in zip(activations, columns, strict=True)
            ]
            short = products[0] if together == 1 else builder.add(*products)
            total = _call(builder, "llvm.x86.avx2.pmadd.wd", _SUMS, short, unit)
            after.append(builder.add(sums[_VECTORS * row + v], total))
    following = builder.add(at, _I64(1))
    builder.cbranch(builder.icmp_signed("<", following, count), loop, done)
    for phi, first, later in zip(
        [at, *state], [_I64(0), *before], [following, *after], strict=True
    ):
        phi.add_incoming(first, entry)
        phi.add_incoming(later, loop)

    builder.position_at_end(done)
    result = []
    for first, later in zip(before, after, strict=True):
        phi = builder.phi(first.type)
        phi.add_incoming(first, entry)
        phi.add_incoming(later, loop)
        result.append(phi)
    return result
