"""Frozen dataclasses that cost little at import.

The standard library compiles six methods for a class when its module is imported, which takes half
a millisecond. A command imports some four hundred such classes, and makes objects of a third. Here
classes compare, hash and print by functions that need no compiling, and a constructor is compiled
when the first object is made. All else is as in the standard library, which also makes the
dataclasses that are not frozen.
"""

from __future__ import annotations

from dataclasses import (
    KW_ONLY,
    MISSING,
    FrozenInstanceError,
    asdict,
    field,
    fields,
    is_dataclass,
    replace,
)
from operator import attrgetter
from reprlib import recursive_repr

TYPE_CHECKING = False  # as in hexsim/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import Field, dataclass
    from typing import Any
else:
    from dataclasses import dataclass as _standard

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False, **options):
        """Return the class as a dataclass, or a decorator; options as in the standard library."""

        def decorated(cls):
            if not frozen:
                return _standard(frozen=frozen, eq=eq, repr=repr, slots=slots, **options)(cls)
            cls.__doc__ = cls.__doc__ or cls.__name__
            bare = _standard(init=False, eq=False, repr=False, frozen=slots, slots=slots, **options)
            cls = bare(cls)
            methods = _frozen(cls)
            methods |= _printed(cls) if repr else {}
            methods |= _compared(cls) if eq else {}
            for name, method in methods.items():
                if vars(cls).get(name) is None:
                    setattr(cls, name, method)
            return cls

        return decorated if cls is None else decorated(cls)


__all__ = ["KW_ONLY", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

Methods = dict[str, "Any"]


def _frozen(cls: type[Any]) -> Methods:
    """Return the methods that make an object of a class and keep it as it was made."""
    names = cls.__dataclass_fields__

    def init(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = constructor = _constructor(cls)
        constructor(self, *values, **named)

    def set_field(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_field(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    methods = {"__init__": init, "__setattr__": set_field, "__delattr__": delete_field}
    return {**methods, "__signature__": _Signature()}


class _Signature:
    """The signature of a class for people and editors, before any object is made too."""

    def __get__(self, made: object, cls: type[Any]) -> Any:
        from inspect import Parameter, Signature

        maker = next(each for each in cls.__mro__ if "__init__" in vars(each))
        if made is not None or "__signature__" not in vars(maker):
            raise AttributeError("this has no signature of a record")
        taken = sorted((each for each in fields(cls) if each.init), key=lambda f: bool(f.kw_only))
        parameters = []
        for each in taken:
            kind = Parameter.KEYWORD_ONLY if each.kw_only else Parameter.POSITIONAL_OR_KEYWORD
            makes = each.default_factory is not MISSING
            default = Parameter.empty if each.default is MISSING else each.default
            default = ... if makes else default
            parameters.append(Parameter(each.name, kind, default=default, annotation=each.type))
        return Signature(parameters, return_annotation=None)


def _compared(cls: type[Any]) -> Methods:
    """Return the methods that compare objects of a class by their fields, and hash them."""
    names = [each.name for each in fields(cls) if each.compare]

    def few(self: Any) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in names)

    values = attrgetter(*names) if len(names) > 1 else few

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


def _printed(cls: type[Any]) -> Methods:
    """Return the method that prints objects of a class with their fields."""
    names = [each.name for each in fields(cls) if each.repr]

    @recursive_repr()
    def shown(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return {"__repr__": shown}


def _constructor(cls: type[Any]) -> Callable[..., None]:
    """Compile the constructor of a class from its fields."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    every = fields(cls)
    taken = sorted((each for each in every if each.init), key=lambda each: bool(each.kw_only))
    parameters, lines = ["self"], []
    for each in taken:
        if each.kw_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(_parameter(each, known))
    for each in every:
        if each.default_factory is not MISSING:
            known[f"_make_{each.name}"] = each.default_factory
            made = f"_make_{each.name}()"
            value = f"{made} if {each.name} is _missing else {each.name}" if each.init else made
        elif each.init:
            value = each.name
        else:
            continue
        lines.append(f"_set(self, {each.name!r}, {value})")
    lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "pass")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines), known)
    constructor: Callable[..., None] = known["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def _parameter(each: Field[Any], known: dict[str, Any]) -> str:
    if each.default_factory is not MISSING:
        return f"{each.name}=_missing"
    if each.default is MISSING:
        return each.name
    known[f"_default_{each.name}"] = each.default
    return f"{each.name}=_default_{each.name}"
