"""Turns a pydantic error into one sentence: file, key, value, and what was expected.

Only the first mistake is reported, and a misspelt key before one that is missing because of it.
"""

import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hexsim.datasheets.quantity import Quantity, Unit
from hexsim.errors import nearest
from hexsim.texts.text import shortened

_PLAIN: dict[Any, str] = {
    str: "a string",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
}


def sentence(model: type[BaseModel], error: ValidationError, where: str) -> str:
    """Describe the first mistake that `model` found in the file (or object) `where`."""
    mistakes = error.errors()
    misspelt = [mistake for mistake in mistakes if mistake["type"] == "extra_forbidden"]
    first = (misspelt or mistakes)[0]
    owner, field = _follow(model, first["loc"])
    key = ".".join(shortened(str(step)) for step in first["loc"])
    start = f"{where}: key '{key}'" if first["loc"] else f"{where}: all of it"
    if misspelt:
        return f"{start} is not known; {nearest(str(first['loc'][-1]), _keys(owner))}"
    if first["type"] == "missing":
        return f"{start} is missing; expected {_expected(field)}"
    if first["type"] in ("model_type", "tuple_type"):
        expected = _expected(field) if first["loc"] else "a table"
        return f"{start} is {_shown(first['input'])}; expected {expected}"
    value = "wrong" if isinstance(first["input"], dict | Quantity) else _shown(first["input"])
    expected = re.sub(r"^[A-Z]\w+ should (be|have)", "expected", first["msg"])
    expected = re.sub(r" after validation, not \d+$", "", expected)
    if not key and value == "wrong":
        return f"{where}: {shortened(expected, 200)}"
    return f"{start} is {value}; {shortened(expected, 200)}"


def _shown(value: object) -> str:
    return shortened(repr(value), 80)


def _keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {info.alias or name: info for name, info in model.model_fields.items()}


def _follow(
    model: type[BaseModel], location: tuple[int | str, ...]
) -> tuple[type[BaseModel], FieldInfo | None]:
    """Return the model of the innermost table with the mistake, and its field if there is one."""
    owner, field = model, None
    for step in location:
        if isinstance(step, int):
            continue  # an index in a list, whose items the field describes
        if field is not None:
            owner = _model_of(field) or owner
        field = _keys(owner).get(str(step))
        if field is None:
            break
    return owner, field


def _unit_of(field: FieldInfo) -> Unit | None:
    return next((mark for mark in field.metadata if isinstance(mark, Unit)), None)


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    if _unit_of(field) is not None:
        return Quantity
    for candidate in (field.annotation, *get_args(field.annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _expected(field: FieldInfo | None) -> str:
    if field is None:
        return "another kind of value"
    unit = _unit_of(field)
    if unit is not None:
        return (
            f'a constant {{ value = ..., unit = "{unit.symbol}", source = "...", '
            'confidence = "documented, inferred, calibrated or assumed" }'
        )
    kind = _plain(field.annotation)
    if get_origin(kind) is Literal:
        return " or ".join(repr(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of tables" if _model_of(field) else "a list"
    if _model_of(field) is not None or get_origin(kind) is Mapping:
        return "a table"
    return _PLAIN.get(kind, "another kind of value")


def _plain(annotation: Any) -> Any:
    """Return a type without its marks, and without the None of a key that may be left out."""
    while get_origin(annotation) in (Annotated, Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        annotation = kinds[0]
    return annotation
