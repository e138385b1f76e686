"""How a field of a document is declared: its type, its unit, its meaning, and how tables show it.

    class LayerCost(Part):
        \"\"\"A layer, in the order of the run.\"\"\"

        us: Annotated[Microseconds, about("its time", label="us")]

The type says the unit of the number; `about` says the rest. Files, the reference page, the JSON
schema, text and data frames follow from the declaration (`hexsim.results.document`).
"""

import math
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, StructMeta
from msgspec.structs import fields as struct_fields
from typing_extensions import dataclass_transform

from hexsim.texts.figures import figure


def unit(symbol: str) -> Meta:
    """Return the mark of a type whose numbers have a unit."""
    return Meta(extra={"unit": symbol}, extra_json_schema={"unit": symbol})


Nanoseconds = Annotated[float, unit("ns")]
Microseconds = Annotated[float, unit("us")]
Milliseconds = Annotated[float, unit("ms")]
Seconds = Annotated[float, unit("s")]
Bytes = Annotated[int, unit("bytes")]
Millijoules = Annotated[float, unit("mJ")]
Milliwatts = Annotated[float, unit("mW")]
Decibels = Annotated[float, unit("dB")]
Hertz = Annotated[float, unit("Hz")]
Share = Annotated[float, unit("0 .. 1")]
Macs = Annotated[int, unit("MAC")]
Cycles = Annotated[int, unit("cycles")]
Packets = Annotated[int, unit("packets")]
PerSecond = Annotated[float, unit("1/s")]

_SCALES: Mapping[str, Mapping[str, float]] = {
    "us": {"ms": 1e-3},
    "bytes": {"KiB": 2.0**-10, "MiB": 2.0**-20},
    "MAC": {"MMAC": 1e-6},
    "0 .. 1": {"%": 100.0},
}
"""Units in which tables show a number, by the unit of the field."""


def about(
    meaning: str, *, label: str = "", shown: str = "", row: bool = False, stored: bool = True
) -> Meta:
    """Say what a field means, in a few words of the reference page.

    `label` is its name in tables, without it the key's words; `shown` the unit in which tables show
    it, by default its own. With `row`, the tables that compare documents have a row for it. A field
    that is not `stored` is in no file: it must have a default.
    """
    extra = {"label": label, "shown": shown, "row": row, "stored": stored}
    return Meta(description=meaning, extra=extra)


class PartType(StructMeta):
    """Makes the classes of parts: frozen, all arguments are keywords, and read as files have them.

    A field that no file has is read as null, so that msgspec, which looks into the types of all
    fields, does not look into that of a simulated workload or of a model.
    """

    def __new__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any
    ) -> Any:
        """Return the class."""
        options = {"frozen": True, "kw_only": True} | options
        kind = super().__new__(cls, name, bases, body, **options)
        kind.__annotations__ = {
            field: hint if _said(hint).get("stored", True) else Annotated[None, *hint.__metadata__]
            for field, hint in kind.__annotations__.items()
        }
        return kind


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Part(Struct, metaclass=PartType, frozen=True, kw_only=True):
    """An object of a document."""


P = TypeVar("P", bound=Part)


def taken(kind: type[P], result: object, /, **others: Any) -> P:
    """Return a part with the attributes of a result that it declares; `others` come first.

    A number that is not finite becomes None, as files have it.
    """
    names = (name for name in kind.__struct_fields__ if name not in others)
    known = {name: getattr(result, name, taken) for name in names}
    values = {name: value for name, value in known.items() if value is not taken}
    return kind(**{name: finite(value) for name, value in (values | others).items()})


def finite(value: Any) -> Any:
    """Return None for a number that is not finite, and any other value as it is."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Field(NamedTuple):
    """The declaration of a field: `key` is its name in files, `name` its attribute."""

    name: str
    key: str
    type: Any
    meaning: str = ""
    unit: str = ""
    label: str = ""
    shown: str = ""
    row: bool = False
    stored: bool = True
    is_fraction: bool = False

    @property
    def heading(self) -> str:
        """The name of a column or row of a table, with the unit of its numbers."""
        label = self.label or self.key.replace("_", " ")
        shown = self.shown or self.unit
        return label if shown in ("", "0 .. 1", label) else f"{label} ({shown})"

    def text(self, value: Any) -> str:
        """Return a value as tables show it: measured and simulated numbers with three digits."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple | list):
            return ", ".join(map(self.text, value))
        if not isinstance(value, int | float):
            return str(value)
        scale = _SCALES.get(self.unit, {}).get(self.shown)
        if scale is not None:
            return figure(value * scale)
        return figure(value) if isinstance(value, float) else f"{value}"


@cache
def fields(kind: type[Part]) -> Mapping[str, Field]:
    """Return the declared fields of a class of parts, by their attributes."""
    hints = get_type_hints(kind, include_extras=True)
    declared = ((each.name, each.encode_name, hints[each.name]) for each in struct_fields(kind))
    return {
        name: Field(name, key, hint, **_said(hint), is_fraction=_is_fraction(hint))
        for name, key, hint in declared
    }


def _is_fraction(hint: Any) -> bool:
    """Tell whether a value of a type may be a fraction, and no whole number."""
    kinds = _kinds(hint)
    return float in kinds and int not in kinds


def _kinds(hint: Any) -> set[Any]:
    """Return the types of a union without their marks."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _kinds(arguments[0])
    return {hint}.union(*map(_kinds, arguments)) if origin in (Union, UnionType) else {hint}


def _said(hint: Any) -> dict[str, Any]:
    """Return what the marks of a type say, also those of the numbers in a list or a mapping."""
    said: dict[str, Any] = {}
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        said |= _said(kind)
        for mark in marks:
            if isinstance(mark, Meta):
                said |= mark.extra or {}
                said |= {"meaning": mark.description} if mark.description else {}
    else:
        for argument in get_args(hint):
            said = {"unit": inner["unit"]} if "unit" in (inner := _said(argument)) else said
    return said


def part_of(hint: Any) -> tuple[type[Part], str] | None:
    """Return the class of the parts in a type, and how a path names them: "", "[]" or "{}".

    None for a type that holds no parts.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return part_of(arguments[0])
    if isinstance(hint, type) and issubclass(hint, Part):
        return hint, ""
    if origin in (Union, UnionType):
        return next(filter(None, map(part_of, arguments)), None)
    if origin is None or not arguments:
        return None
    inner = part_of(arguments[0] if origin is tuple else arguments[-1])
    return inner and (inner[0], "[]" if origin is tuple else "{}")


def stored(kind: type[Part]) -> Iterator[Field]:
    """Yield the fields that files have, in their order."""
    return (field for field in fields(kind).values() if field.stored)
