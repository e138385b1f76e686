"""The largest code of each channel in a window, as vector LLVM IR.

A run of channels stays in registers while all taps of the window go by; a loop over the channels of
each tap would load and store the largest so far again and again. The IR names no instruction of
any CPU.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_WIDTHS = (64, 32, 8, 1)
"""Channels per run, widest first; what is left of one is done by the next."""
_I64 = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def largest_codes(
    typing: Any, x: Any, start: Any, rows: Any, row_step: Any, columns: Any, column_step: Any,
    channels: Any, out: Any,
) -> Any:  # fmt: skip
    """Write the largest code of each of `channels` channels over `rows` x `columns` taps, else 0.

    `x` is the array of codes, for its type. All others are intp: `start` and `out` addresses, the
    steps in bytes.
    """
    element = ir.IntType(x.dtype.bitwidth)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _largest(builder, element, arguments[1:])
        return context.get_dummy_value()

    return types.void(x, *[types.intp] * 7), generate


def _largest(builder: Any, element: Any, arguments: Any) -> None:
    *taps, channels, out = arguments
    size = _I64(element.width // 8)
    done = _I64(0)
    for width in _WIDTHS:
        runs = builder.udiv(builder.sub(channels, done), _I64(width))
        with cgutils.for_range(builder, runs) as loop:
            channel = builder.add(done, builder.mul(loop.index, _I64(width)))
            offset = builder.mul(channel, size)
            _run(builder, ir.VectorType(element, width), taps, offset, builder.add(out, offset))
        done = builder.add(done, builder.mul(runs, _I64(width)))


def _run(builder: Any, kind: Any, taps: Any, offset: Any, out: Any) -> None:
    start, rows, row_step, columns, column_step = taps
    best = cgutils.alloca_once_value(builder, ir.Constant(kind, [0] * kind.count))
    first = builder.add(start, offset)
    with cgutils.for_range(builder, rows) as row:
        line = builder.add(first, builder.mul(row.index, row_step))
        with cgutils.for_range(builder, columns) as column:
            place = builder.add(line, builder.mul(column.index, column_step))
            codes = builder.load(builder.inttoptr(place, kind.as_pointer()))
            codes.align = kind.element.width // 8
            known = builder.load(best)
            larger = builder.icmp_unsigned(">", codes, known)
            builder.store(builder.select(larger, codes, known), best)
    result = builder.load(best)
    builder.store(result, builder.inttoptr(out, kind.as_pointer())).align = kind.element.width // 8
