"""Codes by one rounding of floats, as LLVM IR; `requantize.factors` says for which stages.

Four instructions: sums to floats, times a factor with 1.5 * 2^23 added, and two limits. Floats of
that size are whole numbers, whose last byte is the code. An integer product that is rounded takes
eight, and a clamp.
"""

from typing import Any

from llvmlite import ir

from hexsim.int8.machine_code.vector_ir import FLOAT, broadcast, call, constants

ADDED = 1.5 * 2**23
"""A number such that the sum is between 2^23 and 2^24, whatever code is added."""


class FloatRounding:
    """Emits codes of vectors of `lanes` sums, clamped to `low` .. `high`, any integers."""

    def __init__(self, builder: Any, low: Any, high: Any, lanes: int) -> None:
        self.kind = ir.VectorType(FLOAT, lanes)
        self._builder = builder
        self._added = constants(self.kind, ADDED)
        self._low, self._high = (
            broadcast(builder, builder.fadd(builder.sitofp(limit, FLOAT), FLOAT(ADDED)), self.kind)
            for limit in (low, high)
        )

    def code(self, total: Any, factor: Any) -> Any:
        """Return int32 whose last bytes are the codes of int32 sums; `factor` is a vector."""
        builder, kind = self._builder, self.kind
        operands = builder.sitofp(total, kind), factor, self._added
        code = call(builder, f"llvm.fma.v{kind.count}f32", kind, *operands)
        code = builder.select(builder.fcmp_ordered("<", code, self._high), code, self._high)
        code = builder.select(builder.fcmp_ordered(">", code, self._low), code, self._low)
        return builder.bitcast(code, total.type)
