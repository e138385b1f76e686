"""Reading and writing at addresses, for functions that kernels call in their inner loops.

An array handed to such a function would have its references counted at every call.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_INT32, _BYTE = ir.IntType(32), ir.IntType(8)


@intrinsic  # type: ignore[untyped-decorator]
def load_int32(typing: Any, address: Any) -> Any:
    """The int32 at an intp address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], _INT32.as_pointer()))

    return types.int32(types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_int32(typing: Any, address: Any, value: Any) -> Any:
    """Write an int32 at an intp address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], _INT32.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.intp, types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_byte(typing: Any, source: Any, target: Any) -> Any:
    """Copy one byte between two intp addresses."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, target = (builder.inttoptr(one, _BYTE.as_pointer()) for one in arguments)
        builder.store(builder.load(source), target)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), generate
