"""The inner loop of a depthwise convolution as LLVM IR: a few pixels of 16 channels in registers.

Taps go in pairs: the int16 activations of two taps are interleaved channel by channel, and
`vpmaddwd` multiplies them by the pair's weights and adds the two products. Interleaving stays
within the 128-bit halves of a register, so that the sums of channels 0 1 2 3 8 9 10 11 and
4 5 6 7 12 13 14 15 come together; weights are packed in that order and sums stored back in line.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

PIXELS = 4
"""Pixels per call: 8 accumulators, 2 vectors of weights and 4 in passing, of 16 registers."""
CHANNELS = 16

_LANES = 8
_HALVES = ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))
"""Channels whose sums are in the first and in the second vector."""
ORDER = _HALVES[0] + _HALVES[1]
"""The channel of each column of packed weights."""

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SUMS = ir.VectorType(_I32, _LANES)
_VALUES = ir.VectorType(ir.IntType(16), CHANNELS)
_VECTOR_BYTES = 32
_INSTRUCTION = "llvm.x86.avx2.pmadd.wd"


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def _interleaved(builder: Any, a: Any, b: Any, half: int) -> Any:
    lanes = [lane for c in _HALVES[half] for lane in (c, CHANNELS + c)]
    order = ir.Constant(ir.VectorType(_I32, CHANNELS), lanes)
    return builder.shuffle_vector(a, b, order)


def _multiply(builder: Any, x: Any, y: Any) -> Any:
    known = builder.module.globals.get(_INSTRUCTION)
    kind = ir.FunctionType(_SUMS, [_VALUES, _VALUES])
    return builder.call(known or ir.Function(builder.module, kind, _INSTRUCTION), [x, y])


@intrinsic  # type: ignore[untyped-decorator]
def multiply_channels(
    typing: Any, rows: Any, offsets: Any, pairs: Any, weights: Any, tile: Any
) -> Any:
    """Store into `tile` the sums of CHANNELS channels of PIXELS pixels over `pairs` pairs of taps.

    All arguments are intp; all but the count are addresses. `rows` holds PIXELS addresses of int16;
    `offsets` holds an offset in bytes for each tap; `weights` is int16 (pairs, CHANNELS in ORDER,
    2); `tile` is int32 (PIXELS, CHANNELS). The count is at least 1.
    """
    return types.void(*[types.intp] * 5), _multiply_channels


def _multiply_channels(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, offsets, pairs, weights, tile = arguments
    bases = [_load(builder, builder.add(rows, _I64(8 * row)), _I64) for row in range(PIXELS)]
    entry, loop = builder.block, builder.append_basic_block("pair")
    done = builder.append_basic_block("done")
    builder.branch(loop)

    builder.position_at_end(loop)
    pair, pair_weights, pair_offsets = (builder.phi(_I64) for _ in range(3))
    sums = [builder.phi(_SUMS) for _ in range(2 * PIXELS)]
    taps = [_load(builder, builder.add(pair_offsets, _I64(8 * tap)), _I64) for tap in range(2)]
    factors = [
        _load(builder, builder.add(pair_weights, _I64(_VECTOR_BYTES * half)), _VALUES)
        for half in range(2)
    ]
    new_sums = []
    for row, base in enumerate(bases):
        values = [_load(builder, builder.add(base, tap), _VALUES) for tap in taps]
        for half, factor in enumerate(factors):
            product = _multiply(builder, _interleaved(builder, values[0], values[1], half), factor)
            new_sums.append(builder.add(sums[2 * row + half], product))
    following = (
        builder.add(pair, _I64(1)),
        builder.add(pair_weights, _I64(2 * _VECTOR_BYTES)),
        builder.add(pair_offsets, _I64(16)),
    )
    zeros = [ir.Constant(_SUMS, None)] * len(sums)
    for phi, first, later in zip(
        (pair, pair_weights, pair_offsets, *sums), (_I64(0), weights, offsets, *zeros),
        (*following, *new_sums), strict=True,
    ):  # fmt: skip
        phi.add_incoming(first, entry)
        phi.add_incoming(later, loop)
    builder.cbranch(builder.icmp_signed("<", following[0], pairs), loop, done)

    builder.position_at_end(done)
    line = ir.VectorType(_I32, CHANNELS)
    in_line = ir.Constant(line, [ORDER.index(channel) for channel in range(CHANNELS)])
    for row in range(PIXELS):
        total = builder.shuffle_vector(*new_sums[2 * row : 2 * row + 2], in_line)
        place = builder.add(tile, _I64(2 * _VECTOR_BYTES * row))
        builder.store(total, builder.inttoptr(place, line.as_pointer())).align = 4
    return context.get_dummy_value()
