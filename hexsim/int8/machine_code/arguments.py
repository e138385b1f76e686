"""Arguments of kernels: words that own memory, and records of several arguments.

Words are numbers for machine code, some of them addresses. Machine code uses an address long after
the function that wrote it has returned. So no address is given out by itself: a caller that wants
one names the array, and gets words that keep it alive. Words may point to other words; holding the
first is holding all. Inside kernels arrays have addresses (`x.ctypes.data`) as in C.

A record is a NamedTuple whose fields are numbers, arrays or records. Machine code passes its fields
one by one, as if each were an argument, so a record costs nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numba.core import sigutils
from numba.core.types import Integer
from numba.core.types.containers import BaseTuple

ALIGNMENT = 64
"""Bytes of a cache line, which no two arrays share."""


def whole_lines(size: int) -> int:
    """Return the bytes rounded up to whole cache lines."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """Return `size` undefined bytes that begin at a cache line."""
    buffer = np.empty(size + ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    return buffer[start : start + size]


Int64 = npt.NDArray[np.int64]
Array = npt.NDArray[Any]
Word: TypeAlias = "int | np.integer[Any] | Array | Words | Slot"
"""A number, or an object that stands for the address of its memory."""


class Words:
    """Rows of 64-bit words, of one length, which begin at a cache line.

    An array among them, or other words, stand for their address and live as long as these words.
    """

    def __init__(self, rows: Sequence[Sequence[Word]]) -> None:
        words = [word for row in rows for word in row]
        self._owned = tuple(word for word in words if not isinstance(word, int | np.integer))
        memory = aligned(8 * len(words)).view(np.int64)
        memory[:] = [_number(word) for word in words]
        self.numbers: Int64 = memory.reshape(len(rows), -1)

    def owned(self) -> Iterator[Array]:
        """Yield all arrays that machine code reaches from here, these words first."""
        yield self.numbers
        for owner in self._owned:
            if isinstance(owner, Words | Slot):
                yield from owner.owned()
            else:
                yield owner


class Slot:
    """One word: the address of an array, which may be another array in every run."""

    def __init__(self) -> None:
        self.numbers: Int64 = np.zeros(1, np.int64)
        self._array: Array | None = None

    def hold(self, array: Array) -> None:
        """Point to `array`, and keep it alive until another one is held or the slot is released."""
        self._array = array
        self.numbers[0] = array.ctypes.data

    def release(self) -> None:
        """Point to nothing."""
        self.numbers[0] = 0
        self._array = None

    def owned(self) -> Iterator[Array]:
        """Yield the word, and the array that it points to if there is one."""
        yield self.numbers
        if self._array is not None:
            yield self._array


def seen(argument: Any) -> Any:
    """Return what a kernel receives for an argument: for words, their array."""
    return argument.numbers if isinstance(argument, Words | Slot) else argument


def expanded(argument: Word) -> list[Word]:
    """Return the words of a machine argument: one for an integer, numba's structure for an
    array."""
    if isinstance(argument, int | np.integer):
        return [argument]
    array = seen(argument)
    no_owner = [0, 0]  # the owner of the words owns the array
    return [*no_owner, array.size, array.itemsize, argument, *array.shape, *array.strides]


def bytes_reached(argument: Any) -> int:
    """Return the bytes of the arrays that a kernel reaches through an argument."""
    if isinstance(argument, Words | Slot):
        return sum(array.nbytes for array in argument.owned())
    return argument.nbytes if isinstance(argument, np.ndarray) else 0


def _number(word: Word) -> int:
    return int(word) if isinstance(word, int | np.integer) else int(seen(word).ctypes.data)


_Record = TypeVar("_Record", bound=tuple[Any, ...])

_known: dict[str, Any] = {}
"""numba's type of each record, by its name in signatures."""


def record(fields: str) -> Callable[[type[_Record]], type[_Record]]:
    """Decorate a NamedTuple as a record; `fields` are the types of its fields: "int64,int32[::1]".

    Signatures of kernels, and of other records, then know it by the name of its class.
    """

    def register(kind: type[_Record]) -> type[_Record]:
        field_types, earlier = argument_types(fields), _known.get(kind.__name__)
        names = kind._fields  # type: ignore[attr-defined]
        if len(field_types) != len(names):
            raise TypeError(
                f"record {kind.__name__} has {len(names)} fields, not {len(field_types)}"
            )
        if earlier is not None and earlier.instance_class.__module__ != kind.__module__:
            raise TypeError(f"there are two records {kind.__name__}")
        _known[kind.__name__] = BaseTuple.from_types(field_types, kind)
        return kind

    return register


def argument_types(listed: str) -> tuple[Any, ...]:
    """Return numba's types of arguments, given as in a signature, between its brackets."""
    return tuple(map(_type, _split(listed)))


def _type(name: str) -> Any:
    if name in _known:
        return _known[name]
    ((kind,), _) = sigutils.normalize_signature(f"void({name})")
    return kind


def _split(listed: str) -> Iterator[str]:
    """Yield the parts between commas, except commas in brackets."""
    depth = start = 0
    for at, letter in enumerate(listed):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            yield listed[start:at].strip()
            start = at + 1
    if listed:
        yield listed[start:].strip()


def fields_of(argument: Any) -> Iterator[Any]:
    """Yield the machine arguments of an argument, or of its type: itself, or one field each."""
    if isinstance(argument, tuple | BaseTuple):
        for field in argument:
            yield from fields_of(field)
    else:
        yield argument


def with_fields(argument: Any, change: Callable[[Any], Any]) -> Any:
    """Return the argument with `change` applied to each field, or to itself if it is no record."""
    if not isinstance(argument, tuple):
        return change(argument)
    return type(argument)(*(with_fields(field, change) for field in argument))


def typed(argument: Any, kind: Any) -> Any:
    """Return the argument with the numbers in records converted to the types in `kind`."""
    if isinstance(kind, BaseTuple):
        return type(argument)(*map(typed, argument, kind))
    return np.dtype(kind.name).type(argument) if isinstance(kind, Integer) else argument
