"""Checks what public functions are called with: names of keywords, and types as declared.

A wrong argument is a `HexsimError` that names the parameter, as every other mistake of a user is.
"""

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain, repeat
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np

from hexsim.errors import HexsimError, nearest, spelled, unknown
from hexsim.texts.text import shortened

P = ParamSpec("P")
R = TypeVar("R")

_WHOLE = int | np.integer
_NUMBERS: Mapping[Any, Any] = {
    int: _WHOLE,
    float: _WHOLE | float | np.floating,
    complex: _WHOLE | float | np.floating | complex,
}
"""What is taken as a number of a type; True and False are no numbers."""
_ARRAYS = "numpy._typing"
"""Where the parts of numpy.typing.ArrayLike are declared, among them nested sequences."""
_LONGEST = 60
"""The most characters of a wrong value that a sentence shows."""


def arguments_checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public `function` that raises HexsimError for arguments that it does not take.

    Within it NumPy says nothing of floats that overflow, which values of a network may do.
    """

    @functools.wraps(function)
    def checked(*arguments: P.args, **given: P.kwargs) -> R:
        _require_declared(function, arguments, given)
        settings: Any = {name: _python_number(value) for name, value in given.items()}
        places: Any = map(_python_number, arguments)
        with np.errstate(all="ignore"):
            return function(*places, **settings)

    return checked


def _python_number(value: object) -> object:
    """Return a number of NumPy as the one of Python that files and messages have."""
    return value.item() if isinstance(value, np.integer | np.floating) else value


class _Declared(NamedTuple):
    """The types of parameters by name, those of the typed dictionary of `**settings` as well.

    `positions` are parameters that need no name; further arguments are those of `gathered`.
    """

    types: Mapping[str, Any]
    positions: tuple[str, ...]
    gathered: str | None


@functools.cache
def _declared(function: Callable[..., Any]) -> _Declared:
    hints, types = typing.get_type_hints(function), dict[str, Any]()
    positions, gathered = [], None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            (settings,) = get_args(hints[name])
            types |= typing.get_type_hints(settings)
            continue
        types[name] = hints[name]
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            positions.append(name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            gathered = name
    return _Declared(types, (*positions,), gathered)


def _require_declared(
    function: Callable[..., Any], arguments: Iterable[Any], given: Mapping[str, Any]
) -> None:
    """Raise HexsimError unless the arguments are declared, and of the declared types and words."""
    (types, positions, gathered), name = _declared(function), f"hexsim.{function.__name__}"
    for keyword in given:
        if keyword not in types:
            raise unknown_keyword(function.__name__, keyword, types)
        if keyword == gathered:
            raise HexsimError(f"{name} takes its {keyword} one after the other, without a name")
    places = chain(positions, repeat(gathered) if gathered else ())
    for parameter, value in chain(zip(places, arguments, strict=False), given.items()):
        if not _fits(value, types[parameter]):
            shown = shortened(" ".join(repr(value).split()), _LONGEST)
            raise HexsimError(
                f"{spelled(parameter)} is {shown} ({type(value).__name__}); {name} takes "
                f"{_alternatives(types[parameter])}"
            )
        known = tuple(_words(types[parameter]))
        several = isinstance(value, Sequence) and not isinstance(value, str)
        for word in (value if several else [value]) if known else ():
            if isinstance(word, str) and word not in known:
                raise unknown(spelled(parameter).removesuffix("s"), word, known)


def unknown_keyword(function: str, keyword: str, known: Mapping[str, Any]) -> HexsimError:
    """Return the error for a keyword that the public function called `function` does not have.

    `known` are the types of its parameters. The sentence names the one whose class has such a field
    (options), the same keyword in the other number (chip, chips), the public functions that have
    it, or the nearest keywords of this one.
    """
    public = import_module("hexsim")
    for parameter, kind in known.items():
        for part in (kind, *get_args(kind)):
            # What has a default is a setting, and not what a model is made of.
            if getattr(part, "__name__", "") in public.__all__ and keyword in _settings(part):
                here = f"{parameter}=hexsim.{part.__name__}({keyword}=...)"
                return HexsimError(f"hexsim.{function} takes no '{keyword}'; write {here}")
    functions = [getattr(public, name) for name in public.__all__ if name.islower()]
    owners = [f for f in functions if callable(f) and keyword in _declared(inspect.unwrap(f)).types]
    names = ", ".join(f"hexsim.{owner.__name__}" for owner in owners)
    is_other_number = not {f"{keyword}s", keyword.removesuffix("s")}.isdisjoint(known)
    where = f"{names} would take it" if names and not is_other_number else nearest(keyword, known)
    return HexsimError(f"hexsim.{function} takes no '{keyword}'; {where}")


def _settings(kind: type) -> Iterator[str]:
    """Yield what a class takes with a default."""
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.default is not parameter.empty:
            yield name


def _fits(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a declared type, and so the items of a list or a mapping."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, tuple(map(type, inner)))
    if origin in _NUMBERS:
        return isinstance(value, _NUMBERS[origin]) and not isinstance(value, bool)
    if typing.is_typeddict(origin) or origin is Mapping:
        keys, values = inner or (Any, Any)
        return isinstance(value, Mapping) and all(
            _fits(key, keys) and _fits(item, values) for key, item in value.items()
        )
    if origin.__module__.startswith(_ARRAYS):
        return isinstance(value, Sequence | origin)
    if origin not in (Sequence, Iterable):
        return isinstance(value, origin)
    if isinstance(value, list | tuple | np.ndarray):
        items = value.reshape(-1)[:1] if isinstance(value, np.ndarray) else value
        return all(_fits(item, inner[0]) for item in items)
    return isinstance(value, origin) and not isinstance(value, str | bytes)


def _words(kind: Any) -> Iterator[str]:
    """Yield the words that a declared type allows, alone or in a list; none if it allows any."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        yield from inner
    elif origin in (Union, UnionType, Sequence):
        yield from chain.from_iterable(map(_words, inner))


def _alternatives(kind: Any) -> str:
    """Return the names of the types that a declared one allows, as a list in words."""
    *names, last = dict.fromkeys(_names(kind))
    return f"{', '.join(names)} or {last}" if names else last


def _names(kind: Any) -> Iterator[str]:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        yield from chain.from_iterable(map(_names, inner))
    elif origin is Literal:
        yield from (type(word).__name__ for word in inner)
    elif origin is complex or origin.__module__.startswith(_ARRAYS):
        yield "array"
    else:
        yield "None" if origin is NoneType else origin.__name__
