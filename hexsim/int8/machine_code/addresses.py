"""Reading and writing at addresses, for functions that kernels call in their inner loops.

An array handed to such a function would have its references counted at every call.

Operations on memory that threads share in kernels: atomic counters, calls, yielding a core.
"""

import os
from typing import Any

import numba
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from hexsim.int8.machine_code.jit import inlined
from hexsim.int8.machine_code.vector_ir import BYTE, INT32, INT64, WORD, load, repeat, store


@intrinsic  # type: ignore[untyped-decorator]
def load_int32(typing: Any, address: Any) -> Any:
    """Return the int32 at an intp address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], INT32.as_pointer()))

    return types.int32(types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_int32(typing: Any, address: Any, value: Any) -> Any:
    """Write an int32 at an intp address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], INT32.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.intp, types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(typing: Any, source: Any, target: Any, count: Any) -> Any:
    """Copy `count` bytes, a few, between addresses; all intp."""
    return types.void(*[types.intp] * 3), _copy_bytes


def _copy_bytes(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    *addresses, count = arguments

    def copy(at: Any, kind: Any) -> None:
        source, target = (builder.add(address, at) for address in addresses)
        store(builder, load(builder, source, kind), target)

    def word(state: list[Any]) -> list[Any]:
        copy(state[0], INT64)
        return [builder.add(state[0], INT64(8))]

    repeat(builder, builder.lshr(count, INT64(3)), [INT64(0)], word, maybe_none=True)
    for kind in (INT32, WORD, BYTE):
        size = kind.width // 8
        nonzero = builder.icmp_signed("!=", builder.and_(count, INT64(size)), INT64(0))
        with builder.if_then(nonzero):
            copy(builder.and_(count, INT64(-2 * size)), kind)
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def copy_run(typing: Any, target: Any, source: Any, count: Any) -> Any:
    """Copy `count` bytes, perhaps many, between addresses; all intp."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = (
            builder.inttoptr(argument, cgutils.voidptr_t) for argument in arguments[:2]
        )
        cgutils.raw_memcpy(builder, target, source, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _pointer(typing: Any, address: Any, like: Any) -> Any:
    """Return the address as a pointer to elements of the type of an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(types.int64, like), generate  # type: ignore[attr-defined]


@inlined
def array_at(address: int, like: npt.NDArray[Any], size: int) -> Any:
    """Return the flat array of `size` elements at an int64 address, of the type of `like`."""
    return numba.carray(_pointer(address, like), size)


@inlined
def floats_at(address: int, size: int) -> Any:
    """Return the flat array of `size` float32 at an int64 address."""
    return numba.carray(_float_pointer(address), size)


@intrinsic  # type: ignore[untyped-decorator]
def _float_pointer(typing: Any, address: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.FloatType().as_pointer())

    pointer = types.CPointer(types.float32)  # type: ignore[attr-defined]
    return pointer(types.int64), generate


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
    """Call the entry (`machine_code.jit`) at one address with the words at another."""

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
