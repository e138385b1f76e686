"""Converts frozen dataclasses to JSON trees and back, by their type hints.

All layer types use the same mechanism: a dataclass is an object of its fields, a tuple a list,
bytes are base64, an infinity is the string "inf" or "-inf". A `Layer` also has the name of its
class. New layer types need no change here.

Reading is strict, so that a file of another version is refused rather than misread: unknown
fields, missing fields without default, values of another type and those outside the domain that
the field declares (hexsim.graph.domains) raise InvalidDataError.
"""

import base64
import dataclasses
import json
import math
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hexsim.errors import InvalidDataError
from hexsim.graph import domains
from hexsim.graph.ir import Layer
from hexsim.layers import TYPES
from hexsim.texts.text import shortened

LAYER_TYPES: dict[str, type[Layer]] = {kind.__name__: kind for kind in TYPES}
"""Class name -> layer type."""

_CLASS = "class"


def to_tree(value: object) -> Any:
    """Return `value` as a tree that `json` can write."""
    kind = type(value)
    if not dataclasses.is_dataclass(kind):
        return _leaf_or_collection(value)
    hints = domains.hints(kind)
    tree: dict[str, Any] = {_CLASS: kind.__name__} if isinstance(value, Layer) else {}
    for name, hint in hints.items():
        content = getattr(value, name)
        is_float = hint is float or getattr(hint, "__origin__", None) is float
        tree[name] = to_tree(float(content) if is_float else content)
    return tree


def _leaf_or_collection(value: object) -> Any:
    if isinstance(value, tuple):
        return [to_tree(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_tree(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def from_tree(hint: Any, tree: Any, at: str = "") -> Any:
    """Return the value of type `hint` that `tree` describes.

    Raises InvalidDataError if it is invalid, beginning with the path to the mistake; `at` is the
    path to `tree`.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        value = from_tree(arguments[0], tree, at)
        if fault := domains.fault_of(hint, value):
            raise _error(at, fault)
        return value
    if origin in (Union, types.UnionType):
        return from_tree(_arm(arguments, tree), tree, at)
    if origin is tuple:
        return _tuple(hint, arguments, _expect(isinstance(tree, list), "a list", tree, at), at)
    if origin is Mapping:
        _expect(isinstance(tree, dict), "an object", tree, at)
        return {key: from_tree(arguments[1], item, f"{at}[{key!r}]") for key, item in tree.items()}
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, _expect(isinstance(tree, dict), "an object", tree, at), at)
    return _leaf(hint, tree, at)


def _leaf(hint: Any, tree: Any, at: str) -> Any:
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        fits = any(tree == choice and type(tree) is type(choice) for choice in choices)
        return _expect(fits, " or ".join(map(repr, choices)), tree, at)
    expected = _WORDS[hint]
    if hint is float:
        is_number = isinstance(tree, int | float) and not isinstance(tree, bool)
        return float(_expect(is_number or tree in ("inf", "-inf", "nan"), expected, tree, at))
    if hint is bytes:
        try:
            return base64.b64decode(
                _expect(isinstance(tree, str), expected, tree, at), validate=True
            )
        except ValueError as error:  # binascii.Error, or one of letters beyond ASCII
            raise _error(at, f"is {_description(tree)}; expected {expected}") from error
    fits = isinstance(tree, hint) and isinstance(tree, bool) is (hint is bool)
    return _expect(fits, expected, tree, at)


_WORDS: dict[Any, str] = {
    float: "a number",
    int: "a whole number",
    str: "a string",
    bool: "true or false",
    bytes: "a string in base64",
    types.NoneType: "null",
}


def _tuple(hint: Any, arguments: tuple[Any, ...], tree: list[Any], at: str) -> tuple[Any, ...]:
    if arguments[-1] is Ellipsis:
        arguments = arguments[:1] * len(tree)
    _expect(len(tree) == len(arguments), f"{len(arguments)} values", tree, at)
    parts = enumerate(zip(arguments, tree, strict=True))
    return tuple(
        from_tree(part, item, f"{at}[{index}]{_named(item)}") for index, (part, item) in parts
    )


def _named(tree: Any) -> str:
    """Return the name in a tree for error messages, if it has one."""
    name = tree.get("name") if isinstance(tree, dict) else None
    return f" ({shortened(name)!r})" if isinstance(name, str) else ""


def _dataclass(hint: Any, tree: dict[str, Any], at: str) -> Any:
    if hint is Layer:
        name = tree.get(_CLASS)
        if not isinstance(name, str) or name not in LAYER_TYPES:
            raise _error(at, f"is a layer of the unknown type {_description(name)}")
        hint = LAYER_TYPES[name]
        tree = {key: value for key, value in tree.items() if key != _CLASS}
    hints = domains.hints(hint)
    if surplus := tree.keys() - hints.keys():
        raise _error(at, f"has the unknown field {shortened(min(surplus))!r}")
    for field in dataclasses.fields(hint):
        is_required = (field.default, field.default_factory) == (dataclasses.MISSING,) * 2
        if is_required and field.name not in tree:
            raise _error(at, f"lacks the field '{field.name}'")
    values = {
        name: from_tree(hints[name], value, f"{at}.{name}" if at else name)
        for name, value in tree.items()
    }
    try:
        return hint(**values)
    except InvalidDataError as error:
        raise _error(at, f"is not possible: {error}") from None


def _arm(hints: tuple[Any, ...], tree: Any) -> Any:
    """Return the type of a union that `tree` is most likely meant to be.

    Among dataclasses this is the one that shares most fields with `tree`.
    """
    if tree is None and types.NoneType in hints:
        return types.NoneType
    others = [hint for hint in hints if hint is not types.NoneType]
    if isinstance(tree, dict):
        classes: list[Any] = [hint for hint in others if dataclasses.is_dataclass(hint)]
        return max(
            classes, key=lambda kind: len(domains.hints(kind).keys() & tree), default=others[0]
        )
    return others[0]


def _expect(fits: bool, words: str, tree: Any, at: str) -> Any:
    if not fits:
        raise _error(at, f"is {_description(tree)}; expected {words}")
    return tree


def _description(tree: Any) -> str:
    if isinstance(tree, dict | list) and tree:
        return f"{'an object' if isinstance(tree, dict) else 'a list'} of {len(tree)}"
    return shortened(json.dumps(tree))


def _error(at: str, fault: str) -> InvalidDataError:
    return InvalidDataError(f"{at or 'it'} {fault}")
