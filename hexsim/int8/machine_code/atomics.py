"""Operations on memory that threads share in kernels: atomic counters, calls, yielding a core."""

import os
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code.jit import inlined

_WORD = ir.IntType(64)

CAN_YIELD = hasattr(os, "sched_yield")
"""Whether threads can offer their core to others; without that there is no thread pool."""


@intrinsic  # type: ignore[untyped-decorator]
def add_and_fetch_old(typing: Any, address: Any, value: Any) -> Any:
    """Add to the int64 at `address`, in one atomic operation, and return the old value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], _WORD.as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def read_shared(typing: Any, address: Any) -> Any:
    """Return the int64 at `address` as the other threads left it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], _WORD.as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_entry(typing: Any, entry: Any, words: Any) -> Any:
    """Call the entry (`machine_code.entry`) at one address with the words at another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_WORD.as_pointer()])
        entry, words = arguments
        words = builder.inttoptr(words, _WORD.as_pointer())
        builder.call(builder.inttoptr(entry, kind.as_pointer()), [words])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_word(typing: Any, words: Any, index: Any, value: Any) -> Any:
    """Write the int64 that is `index` words behind the address `words`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words, index, value = arguments
        pointer = builder.gep(builder.inttoptr(words, _WORD.as_pointer()), [index])
        builder.store(value, pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@inlined
def _yield_nothing() -> None:
    pass


yield_core: Any = _yield_nothing
"""Offers the core to other threads."""
if CAN_YIELD:
    yield_core = types.ExternalFunction("sched_yield", types.int32())
