"""The octave of a number, and its place in it, from the bits of the float nearest to it."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def bits_of_float(typing: Any, value: Any) -> Any:
    """Return the bits of the float32 nearest to an int32, as an int32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.sitofp(arguments[0], ir.FloatType()), ir.IntType(32))

    return types.int32(types.int32), generate
