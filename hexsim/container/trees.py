"""Frozen dataclasses as JSON trees and back, led by their type hints.

One mechanism for every layer type: a dataclass is an object of its fields, a tuple a list, bytes
are base64, an infinity is the string "inf" or "-inf". A `Layer` also says its class, and every
layer type is known; adding one changes nothing here.

Reading is strict, so that a file of another version is refused rather than misread: unknown
fields, missing fields without default and values of another type raise ValueError.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hexsim.graph.ir import Layer
from hexsim.layers import TYPES

LAYER_TYPES: dict[str, type[Layer]] = {kind.__name__: kind for kind in TYPES}
"""Class name -> layer type."""

_CLASS = "class"


def to_tree(value: object) -> Any:
    """Return `value` as what `json` can write."""
    kind = type(value)
    if not dataclasses.is_dataclass(kind):
        return _leaf_or_collection(value)
    hints = _hints(kind)
    tree: dict[str, Any] = {_CLASS: kind.__name__} if isinstance(value, Layer) else {}
    for field in dataclasses.fields(kind):
        content = getattr(value, field.name)
        tree[field.name] = to_tree(float(content) if hints[field.name] is float else content)
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


def from_tree(hint: Any, tree: Any) -> Any:
    """Return the value of type `hint` that `tree` describes; raise ValueError if it is none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _first_that_fits(arguments, tree)
    if origin is Literal:
        return _expect(tree in arguments, hint, tree)
    if origin is tuple:
        return _tuple(hint, arguments, tree)
    if origin is Mapping:
        _expect(isinstance(tree, dict), hint, tree)
        return {key: from_tree(arguments[1], item) for key, item in tree.items()}
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, _expect(isinstance(tree, dict), hint, tree))
    return _leaf(hint, tree)


def _leaf(hint: Any, tree: Any) -> Any:
    if hint is float:
        return float(_expect(_is_number(tree) or tree in ("inf", "-inf", "nan"), hint, tree))
    if hint is bytes:
        return base64.b64decode(_expect(isinstance(tree, str), hint, tree), validate=True)
    if hint is types.NoneType:
        return _expect(tree is None, hint, tree)
    return _expect(isinstance(tree, hint) and isinstance(tree, bool) is (hint is bool), hint, tree)


def _tuple(hint: Any, arguments: tuple[Any, ...], tree: Any) -> tuple[Any, ...]:
    _expect(isinstance(tree, list), hint, tree)
    if arguments[-1] is Ellipsis:
        return tuple(from_tree(arguments[0], item) for item in tree)
    _expect(len(tree) == len(arguments), hint, tree)
    return tuple(from_tree(part, item) for part, item in zip(arguments, tree, strict=True))


def _dataclass(hint: Any, tree: dict[str, Any]) -> Any:
    if hint is Layer:
        name = tree.get(_CLASS)
        if name not in LAYER_TYPES:
            raise ValueError(f"a layer of the unknown type '{name}'")
        hint = LAYER_TYPES[name]
        tree = {key: value for key, value in tree.items() if key != _CLASS}
    hints = _hints(hint)
    names = {field.name for field in dataclasses.fields(hint)}
    if surplus := tree.keys() - names:
        raise ValueError(f"{hint.__name__} with the unknown field '{min(surplus)}'")
    values = {name: from_tree(hints[name], value) for name, value in tree.items()}
    try:
        return hint(**values)
    except TypeError:
        raise ValueError(
            f"{hint.__name__} with the fields {sorted(tree)}, which are not all"
        ) from None


def _first_that_fits(hints: tuple[Any, ...], tree: Any) -> Any:
    for hint in hints:
        try:
            return from_tree(hint, tree)
        except ValueError as error:
            last = error
    raise last


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_number(tree: Any) -> bool:
    return isinstance(tree, int | float) and not isinstance(tree, bool)


def _expect(fits: bool, hint: Any, tree: Any) -> Any:
    if not fits:
        raise ValueError(f"{str(tree)[:40]!r} where {getattr(hint, '__name__', hint)} is expected")
    return tree
