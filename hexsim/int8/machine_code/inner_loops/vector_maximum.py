"""The largest code of each channel in a row of taps, as vector LLVM IR.

A run of channels stays in registers for all taps; a loop over the channels of each tap
would load and store the largest so far again and again. The IR names no instruction of any CPU.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from hexsim.int8.machine_code.vector_ir import INT64, constants, repeat

_WIDTHS = (64, 32, 8, 1)
"""Channels per run, widest first; channels that remain are left to the next width."""


@intrinsic  # type: ignore[untyped-decorator]
def largest_codes(
    typing: Any, x: Any, start: Any, taps: Any, step: Any, channels: Any, out: Any
) -> Any:
    """Write the largest code of each of `channels` channels over `taps` taps, 0 if there is none.

    `x` is the array of codes, for its type. All others are intp: `start` and `out` addresses, the
    step from tap to tap in bytes.
    """
    element = ir.IntType(x.dtype.bitwidth)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _largest(builder, element, arguments[1:])
        return context.get_dummy_value()

    return types.void(x, *[types.intp] * 5), generate


def _largest(builder: Any, element: Any, arguments: Any) -> None:
    start, taps, step, channels, out = arguments
    size = INT64(element.width // 8)
    done = INT64(0)
    for width in _WIDTHS:
        runs = builder.udiv(builder.sub(channels, done), INT64(width))
        with cgutils.for_range(builder, runs) as loop:
            channel = builder.add(done, builder.mul(loop.index, INT64(width)))
            offset = builder.mul(channel, size)
            places = (builder.add(address, offset) for address in (start, out))
            _run(builder, ir.VectorType(element, width), taps, step, *places)
        done = builder.add(done, builder.mul(runs, INT64(width)))


def _run(builder: Any, kind: Any, taps: Any, step: Any, start: Any, out: Any) -> None:
    def larger(state: list[Any]) -> list[Any]:
        place, best = state
        codes = builder.load(builder.inttoptr(place, kind.as_pointer()))
        codes.align = kind.element.width // 8
        best = builder.select(builder.icmp_unsigned(">", codes, best), codes, best)
        return [builder.add(place, step), best]

    _, best = repeat(builder, taps, [start, constants(kind, 0)], larger, maybe_none=True)
    builder.store(best, builder.inttoptr(out, kind.as_pointer())).align = kind.element.width // 8
