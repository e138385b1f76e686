"""Domains: the valid values of a layer's fields, declared once, in their types.

A declaration such as `strides: tuple[Positive, Positive]` is checked by the reader of a file when
it builds the layer, and by `require` for a layer that exists already. `Axis`, `Axes`, `PerAxis` and
`AxisOrder` refer to the axes of a layer's first operand, which `require_axes` checks. Conditions on
several fields are in a method `fault` of their dataclass.
"""

import dataclasses
import math
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from annotated_types import Interval, MaxLen

from hexsim.errors import InvalidDataError

LARGEST = 2**31 - 1
"""The largest size, count or distance, beyond the memory of any phone."""
MOST_AXES = 64
"""The most axes of an array of numpy."""
_LARGEST_FLOAT = 3.4028234663852886e38
"""The largest finite float32."""

Natural = Annotated[int, Interval(ge=0, le=LARGEST)]
"""A count that may be zero."""
Sizes = Annotated[tuple[Natural, ...], MaxLen(MOST_AXES)]
"""A shape."""
Positive = Annotated[int, Interval(ge=1, le=LARGEST)]
"""A size or a step."""
Real = Annotated[float, Interval(ge=-_LARGEST_FLOAT, le=_LARGEST_FLOAT)]
"""A finite float32."""
Factor = Annotated[float, Interval(gt=0.0, le=_LARGEST_FLOAT)]
"""A ratio of sizes."""
Count = Annotated[int, Interval(ge=0, le=2**63 - 1)]
"""A number of operations; as a product of sizes it may be large."""
Bound = Annotated[float, Interval(ge=-math.inf, le=math.inf)]
"""A number, or infinity for no bound."""


NUMBER_TYPES = {kind.name: kind for kind in map(np.dtype, "?bBhHiIlLefdFD")}
"""Element types by their names. `numpy.dtype` takes many other texts, too, and raises errors of
several kinds for the rest."""
UNSTORED = {"stored": False}
"""Metadata of a field that is not stored in files; its value is looked up after reading."""


@dataclasses.dataclass(frozen=True)
class OfAxes:
    """Marks a field that refers to axes of the first operand.

    `fits` checks a value for an operand of some rank; `words` describe valid values.
    """

    words: str
    fits: Callable[[Any, int], bool]


def _are_axes(axes: tuple[int, ...], rank: int) -> bool:
    return len(set(axes)) == len(axes) and all(0 <= axis < rank for axis in axes)


Axis = Annotated[int, OfAxes("an axis of its operand", lambda at, rank: 0 <= at < rank)]
"""One stored axis."""
Axes = Annotated[tuple[int, ...], OfAxes("different axes of its operand", _are_axes)]
"""Some stored axes."""
AxisOrder = Annotated[
    tuple[int, ...],
    OfAxes("all axes of its operand", lambda at, rank: sorted(at) == list(range(rank))),
]
"""All stored axes, in any order."""
_ONE_EACH = OfAxes("one number for each axis of its operand", lambda at, rank: len(at) == rank)
PerAxis = Annotated[tuple[Natural, ...], _ONE_EACH]
"""A number for each stored axis."""


def require(value: object) -> None:
    """Raise InvalidDataError for the first invalid field of a dataclass, nested ones included."""
    for path, fault in _faults(value, ""):
        raise InvalidDataError(f"{path}{fault}")


def require_axes(value: Any, rank: int) -> None:
    """Raise InvalidDataError if a field refers to axes that an operand of `rank` axes lacks."""
    for name, hint in hints(type(value)).items():
        for mark in getattr(hint, "__metadata__", ()):
            content = getattr(value, name)
            if isinstance(mark, OfAxes) and not mark.fits(content, rank):
                raise InvalidDataError(
                    f"field '{name}' is {_shown(content)}; expected {mark.words}, which has {rank}"
                )


def fault_of(hint: Any, value: object) -> str | None:
    """Return why `value` is outside the domain of an annotated type, None if it is inside."""
    for mark in getattr(hint, "__metadata__", ()):
        if isinstance(mark, Interval) and not _within(mark, value):
            return f"is {_shown(value)}; expected {_words(hint.__origin__, mark)}"
        if isinstance(mark, MaxLen) and isinstance(value, tuple) and len(value) > mark.max_length:
            return f"has {len(value)} numbers; expected at most {mark.max_length}"
    return None


def hints(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's stored fields, with their annotations."""
    return _hints(kind)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    types_by_name = get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if field.metadata != UNSTORED]
    return {field.name: types_by_name[field.name] for field in fields}


@cache
def _limited(kind: Any) -> dict[str, Any]:
    """Return the types of the stored fields of which not every value is in the domain."""
    return {name: hint for name, hint in hints(kind).items() if _is_limited(hint)}


def _is_limited(hint: Any) -> bool:
    if any(isinstance(mark, Interval) for mark in getattr(hint, "__metadata__", ())):
        return True
    kind, origin, arguments = _parts(hint)
    if origin is Literal or kind in (Ellipsis, types.NoneType, bool, int, float, str):
        return False
    return not arguments or any(map(_is_limited, arguments))


def _faults(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the description of each fault in a dataclass."""
    kind: Any = type(value)
    for name, hint in _limited(kind).items():
        yield from _faults_in(hint, getattr(value, name), f"{path}.{name}" if path else name)
    fault = getattr(value, "fault", None)
    if callable(fault) and (description := fault()):
        yield f"{path}: " if path else "", description


def _faults_in(hint: Any, value: Any, path: str) -> Iterator[tuple[str, str]]:
    if description := fault_of(hint, value):
        yield f"field '{path}' ", description
    _, origin, arguments = _parts(hint)
    if origin in (Union, types.UnionType):
        (first, *others) = (argument for argument in arguments if argument is not types.NoneType)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _faults(value, path)
        elif value is not None and not others:
            yield from _faults_in(first, value, path)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _faults_in(arguments[1], item, f"{path}['{key}']")
    elif origin is tuple and isinstance(value, tuple):
        elements = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        for index, (element, item) in enumerate(zip(elements, value, strict=False)):
            yield from _faults_in(element, item, f"{path}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _faults(value, path)


@cache
def _parts(hint: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return a type without its annotations, its generic type, and the arguments of that."""
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return kind, get_origin(kind), get_args(kind)


def _within(mark: Interval, value: Any) -> bool:
    low = mark.ge is None or value >= mark.ge
    above = mark.gt is None or value > mark.gt
    return bool(low and above and (mark.le is None or value <= mark.le))


def _words(kind: type, mark: Interval) -> str:
    if kind is int:
        return f"a whole number from {mark.ge} to {mark.le}"
    if mark.le == math.inf:
        return "a number" if mark.gt is None else f"a number above {mark.gt}"
    return "a finite number" if mark.gt is None else f"a finite number above {mark.gt}"


def _shown(value: object) -> str:
    text = f"{value:.5g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
