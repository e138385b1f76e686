"""Reading and writing at addresses in the inner loops of kernels, some of it as LLVM IR.

The parts of kernels written as LLVM IR: vectors at addresses, calls and loops.

An array handed to such a function would have its references counted at every call.

Operations on memory that threads share in kernels: atomic counters, calls, yielding a core.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numba
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from hexsim.int8.machine_code.jit import emits, inlined

BYTE, WORD, INT32, INT64 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
FLOAT = ir.FloatType()


def load(builder: Any, address: Any, kind: Any) -> Any:
    """Return the value of type `kind` at an address of any alignment."""
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def store(builder: Any, value: Any, address: Any) -> None:
    """Write `value` at an address of any alignment."""
    builder.store(value, builder.inttoptr(address, value.type.as_pointer())).align = 1


def constants(kind: Any, values: float | Iterable[float]) -> Any:
    """Return a vector of those values, or of one value in every lane."""
    lanes = list(values) if isinstance(values, Iterable) else [values] * kind.count
    return ir.Constant(kind, lanes)


def broadcast(builder: Any, scalar: Any, kind: Any) -> Any:
    """Return a vector of `kind` with `scalar` in every lane."""
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, scalar, INT32(0))
    return shuffled(builder, first, empty, [0] * kind.count)


def shuffled(builder: Any, x: Any, y: Any, lanes: Sequence[int]) -> Any:
    """Return the lanes of x, then y, whose numbers are `lanes`."""
    order = ir.Constant(ir.VectorType(INT32, len(lanes)), list(lanes))
    return builder.shuffle_vector(x, y, order)


def joined(builder: Any, vectors: Sequence[Any]) -> Any:
    """Return the lanes of a power of two of vectors, one vector after the other."""
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [shuffled(builder, x, y, range(2 * x.type.count)) for x, y in pairs]
    return vectors[0]


def call(builder: Any, name: str, result: Any, *operands: Any) -> Any:
    """Return the result, of type `result`, of the LLVM function `name` for the operands."""
    known = builder.module.globals.get(name)
    kind = ir.FunctionType(result, [operand.type for operand in operands])
    return builder.call(known or ir.Function(builder.module, kind, name), operands)


def prefetch(builder: Any, address: Any) -> None:
    """Have the line of memory at `address` read into the second level of caches.

    The first level has too little room for what is not needed at once. The memory need not be ours.
    """
    pointer = builder.inttoptr(address, BYTE.as_pointer())
    to_read, second_level, data = INT32(0), INT32(2), INT32(1)
    call(builder, "llvm.prefetch.p0i8", ir.VoidType(), pointer, to_read, second_level, data)


def repeat(
    builder: Any,
    count: Any,
    before: Sequence[Any],
    body: Callable[[list[Any]], Sequence[Any]],
    *,
    maybe_none: bool = False,
) -> list[Any]:
    """Emit a loop of `count` turns; `body` emits one, and maps the values before it to those after.

    Returns the values at the end. `maybe_none` allows a count of zero.
    """
    entry, loop = builder.block, builder.append_basic_block("loop")
    done = builder.append_basic_block("done")
    if maybe_none:
        builder.cbranch(builder.icmp_signed(">", count, INT64(0)), loop, done)
    else:
        builder.branch(loop)
    builder.position_at_end(loop)
    index, *state = _joined(builder, [INT64(0), *before], entry)
    after = [builder.add(index, INT64(1)), *body(state)]
    end = builder.block
    for phi, value in zip([index, *state], after, strict=True):
        phi.add_incoming(value, end)
    builder.cbranch(builder.icmp_signed("<", after[0], count), loop, done)
    builder.position_at_end(done)
    if not maybe_none:
        return after[1:]
    result = _joined(builder, before, entry)
    for phi, value in zip(result, after[1:], strict=True):
        phi.add_incoming(value, end)
    return result


def when(
    builder: Any, condition: Any, before: Sequence[Any], change: Callable[[], Sequence[Any]]
) -> list[Any]:
    """Return the values `before`, or those that `change` emits if the condition holds."""
    entry = builder.block
    with builder.if_then(condition):
        changed = change()
        end = builder.block
    result = _joined(builder, before, entry)
    for phi, value in zip(result, changed, strict=True):
        phi.add_incoming(value, end)
    return result


def _joined(builder: Any, values: Sequence[Any], block: Any) -> list[Any]:
    """Return a phi for each value, which it takes when control comes from `block`."""
    phis = [builder.phi(value.type) for value in values]
    for phi, value in zip(phis, values, strict=True):
        phi.add_incoming(value, block)
    return phis


@emits(types.int32, types.intp)
def load_int32(builder: Any, address: Any) -> Any:
    """Return the int32 at an address."""
    return builder.load(builder.inttoptr(address, INT32.as_pointer()))


@emits(types.void, types.intp, types.int32)
def store_int32(builder: Any, address: Any, value: Any) -> None:
    """Write an int32 at an address."""
    builder.store(value, builder.inttoptr(address, INT32.as_pointer()))


@emits(types.void, *[types.intp] * 3)
def copy_bytes(builder: Any, source: Any, target: Any, count: Any) -> None:
    """Copy `count` bytes, a few, between addresses."""

    def copy(at: Any, kind: Any) -> None:
        value = load(builder, builder.add(source, at), kind)
        store(builder, value, builder.add(target, at))

    def word(state: list[Any]) -> list[Any]:
        copy(state[0], INT64)
        return [builder.add(state[0], INT64(8))]

    repeat(builder, builder.lshr(count, INT64(3)), [INT64(0)], word, maybe_none=True)
    for kind in (INT32, WORD, BYTE):
        size = kind.width // 8
        nonzero = builder.icmp_signed("!=", builder.and_(count, INT64(size)), INT64(0))
        with builder.if_then(nonzero):
            copy(builder.and_(count, INT64(-2 * size)), kind)


@emits(types.void, *[types.intp] * 3)
def copy_run(builder: Any, target: Any, source: Any, count: Any) -> None:
    """Copy `count` bytes, perhaps many, between addresses."""
    to, at = (builder.inttoptr(address, cgutils.voidptr_t) for address in (target, source))
    cgutils.raw_memcpy(builder, to, at, count, 1)


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


@emits(types.CPointer(types.float32), types.int64)  # type: ignore[attr-defined]
def _float_pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, FLOAT.as_pointer())


CAN_YIELD = hasattr(os, "sched_yield")
"""Whether threads can offer their core to others; without that there is no thread pool."""


@emits(types.int64, types.int64, types.int64)
def add_and_fetch_old(builder: Any, address: Any, value: Any) -> Any:
    """Add to the int64 at `address`, in one atomic operation, and return the old value."""
    pointer = builder.inttoptr(address, INT64.as_pointer())
    return builder.atomic_rmw("add", pointer, value, "seq_cst")


@emits(types.int64, types.int64)
def read_shared(builder: Any, address: Any) -> Any:
    """Return the int64 at `address` as the other threads left it."""
    return builder.load_atomic(builder.inttoptr(address, INT64.as_pointer()), "acquire", 8)


@emits(types.void, types.int64, types.int64)
def call_entry(builder: Any, entry: Any, words: Any) -> None:
    """Call the entry (`machine_code.jit`) at one address with the words at another."""
    kind = ir.FunctionType(ir.VoidType(), [INT64.as_pointer()])
    pointer = builder.inttoptr(words, INT64.as_pointer())
    builder.call(builder.inttoptr(entry, kind.as_pointer()), [pointer])


@emits(types.void, *[types.int64] * 3)
def write_word(builder: Any, words: Any, index: Any, value: Any) -> None:
    """Write the int64 that is `index` words behind the address `words`."""
    pointer = builder.gep(builder.inttoptr(words, INT64.as_pointer()), [index])
    builder.store(value, pointer)


@inlined
def _yield_nothing() -> None:
    pass


yield_core: Any = _yield_nothing
"""Offers the core to other threads."""
if CAN_YIELD:
    yield_core = types.ExternalFunction("sched_yield", types.int32())
