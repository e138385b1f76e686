"""Records: several arguments of a kernel as one, by name.

A record is a NamedTuple whose fields are numbers, arrays or records. Machine code passes its fields
one by one, as if each were an argument, so a record costs nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numba.core import sigutils
from numba.core.types import Integer
from numba.core.types.containers import BaseTuple

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
