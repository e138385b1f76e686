"""The parts of kernels written as LLVM IR: vectors at addresses, calls and loops."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from llvmlite import ir

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
