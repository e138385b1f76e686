"""Reads tables of TOML and JSON by their declared fields, and says in a sentence what is wrong.

    class Core(Table, forbid_unknown_fields=True):
        name: str
        clocks: Annotated[tuple[float, ...], Meta(min_length=1)]

The types are those of Python: `float`, `int`, `str`, `bool`, words (`Literal`), lists (`tuple`),
mappings, other tables, and unions. `msgspec.Meta` bounds numbers and lengths, and a mark of one's
own (`Mark`) changes how its field is read. A method `fault` of a table checks several fields.

Only the first mistake is reported, and a misspelt key before one that is missing because of it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import cycle
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from msgspec import Meta, ValidationError, convert, to_builtins
from msgspec.structs import fields as struct_fields
from msgspec.structs import replace

from hexsim.errors import HexsimError, nearest
from hexsim.texts.fields import Part, PartType
from hexsim.texts.text import shortened


class Table(Part, dict=True):
    """What is read of a table; a field whose name begins with an underscore is not."""

    def fault(self) -> str | None:
        """Return what is expected of fields together, if they are wrong."""
        return None


TableT = TypeVar("TableT", bound=Table)
Tree = dict[str, Any]
Place = tuple[str | int, ...]


class TreeError(Exception):
    """What is wrong in a tree: the key, what stands there, and what is expected instead."""

    def __init__(self, at: Place, node: Any, expected: str, fault: str = "") -> None:
        super().__init__()
        self._at, self._node, self._expected, self._fault = at, node, expected, fault

    def sentence(self, where: str) -> str:
        """Describe it in the file (or object) `where`."""
        key = ".".join(shortened(str(step)) for step in self._at)
        start = f"{where}: key '{key}'" if self._at else f"{where}: all of it"
        expected = f"expected {shortened(self._expected, 200)}"
        if self._fault:
            return f"{start} is {self._fault}"
        if isinstance(self._node, dict):
            return f"{start} is wrong; {expected}" if self._at else f"{where}: {expected}"
        return f"{start} is {shortened(repr(self._node), 80)}; {expected}"


Read = Callable[[Any, Place], Any]
"""Reads a node of a tree at a place; raises `TreeError`."""


class Mark:
    """Changes how a field is read; `expected` says what stands there, if not its type does."""

    expected = ""

    def reader(self, read: Read) -> Read:
        """Return what reads the field; `read` reads it without the mark."""
        return read


class Checked(Mark):
    """A mark: `fault` says what is expected of a value that is wrong."""

    def __init__(self, fault: Callable[[Any], str | None]) -> None:
        self._fault = fault

    def reader(self, read: Read) -> Read:
        """Return what checks the value that was read."""

        def checked(node: Any, at: Place) -> Any:
            value = read(node, at)
            if fault := self._fault(value):
                raise TreeError(at, node, fault)
            return value

        return checked


def read(kind: type[TableT], tree: Any, where: str) -> TableT:
    """Return the table that a tree is; HexsimError names `where`, the key and what is expected."""
    try:
        table: TableT = table_reader(kind)(tree, ())
    except TreeError as error:
        raise HexsimError(error.sentence(where)) from None
    return table


def reread(table: TableT, before: Tree, tree: Tree, where: str) -> TableT:
    """Return what `read` does of a changed tree; `table` is what the tree `before` was.

    What is one and the same in both trees is not read again.
    """
    try:
        return _reread(table, before, tree, ())
    except TreeError as error:
        raise HexsimError(error.sentence(where)) from None


def _reread(table: TableT, before: Tree, tree: Tree, at: Place) -> TableT:
    known, values = fields(type(table)), dict[str, Any]()
    for key, node in tree.items():
        if node is not before[key]:
            name, place = known[key].name, (*at, key)
            inner = getattr(table, name)
            is_table = isinstance(inner, Table)
            values[name] = (
                _reread(inner, before[key], node, place)
                if is_table
                else known[key].read(node, place)
            )
    return replace(table, **values)


class Field(NamedTuple):
    """A field of a table by its attribute, with its type and what reads it."""

    name: str
    type: Any
    is_required: bool
    read: Read


@cache
def fields(kind: type[Table]) -> Mapping[str, Field]:
    """Return the fields of a table by their keys."""
    return {
        info.encode_name: Field(info.name, info.type, info.required, _reader(info.type))
        for info in struct_fields(kind)
        if not info.name.startswith("_")
    }


def parts(hint: Any) -> Iterator[Any]:
    """Yield a type, those of which it is made, and their marks."""
    yield hint
    for part in get_args(hint):
        yield from parts(part)


@cache
def table_reader(kind: type[Table]) -> Read:
    """Return what reads a table."""
    known, is_strict = fields(kind), kind.__struct_config__.forbid_unknown_fields
    made_of = [part for info in known.values() for part in parts(info.type)]
    is_simple = len(known) == len(kind.__struct_fields__) and not any(
        isinstance(part, Mark | PartType) for part in made_of
    )

    def read_table(node: Any, at: Place) -> Any:
        try:
            table = convert(node, kind) if is_simple else read_fields(node, at)
        except ValidationError:  # it does not say which key is wrong
            table = read_fields(node, at)
        if fault := table.fault():
            raise TreeError(at, node, fault)
        return table

    def read_fields(node: Any, at: Place) -> Any:
        if not isinstance(node, dict):
            raise TreeError(at, node, "a table")
        for key in node if is_strict else ():
            if key not in known:
                raise TreeError((*at, key), None, "", f"not known; {nearest(str(key), known)}")
        for key, info in known.items():
            if info.is_required and key not in node:
                raise TreeError((*at, key), None, "", f"missing; expected {words(info.type)}")
        return kind(
            **{
                info.name: info.read(node[key], (*at, key))
                for key, info in known.items()
                if key in node
            }
        )

    return read_table


def _reader(hint: Any) -> Read:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _marked(arguments[0], arguments[1:])
    if origin in (Union, UnionType):
        return _union([_reader(each) for each in arguments])
    if origin in (tuple, Sequence):
        return _list(hint, arguments)
    if origin in (dict, Mapping):
        return _mapping(*map(_reader, arguments))
    return table_reader(hint) if isinstance(hint, PartType) else partial(_leaf, hint)


def _leaf(hint: Any, node: Any, at: Place) -> Any:
    """Read a value; a whole number may be written with a decimal point."""
    if type(node) is float and hint is int and node.is_integer():
        return int(node)
    try:
        if type(node) is not float or math.isfinite(node):
            return convert(node, hint)
    except ValidationError as error:
        raise TreeError(at, node, words(hint)) from error
    raise TreeError(at, node, words(hint))


def _marked(hint: Any, marks: Sequence[Any]) -> Read:
    reading = _reader(hint)
    for mark in marks:
        known = Checked(partial(_beyond, mark)) if isinstance(mark, Meta) else mark
        reading = known.reader(reading) if isinstance(known, Mark) else reading
    return reading


def _beyond(mark: Meta, value: Any) -> str | None:
    """Return what is expected of a value outside the limits of a mark."""
    if mark.gt is not None and not value > mark.gt:
        return f"greater than {mark.gt}"
    if mark.ge is not None and not value >= mark.ge:
        return f"greater than or equal to {mark.ge}"
    if mark.le is not None and not value <= mark.le:
        return f"less than or equal to {mark.le}"
    if mark.min_length is not None and len(value) < mark.min_length:
        return f"at least {mark.min_length} {'character' if isinstance(value, str) else 'item'}"
    return None


def _union(readers: Sequence[Read]) -> Read:
    def union(node: Any, at: Place) -> Any:
        mistakes = []
        for reading in readers:
            try:
                return reading(node, at)
            except TreeError as error:
                mistakes.append(error)
        raise mistakes[0]

    return union


def _list(hint: Any, arguments: tuple[Any, ...]) -> Read:
    readers = [_reader(argument) for argument in arguments if argument is not Ellipsis]
    is_long = get_origin(hint) is not tuple or arguments[-1] is Ellipsis

    def read_list(node: Any, at: Place) -> Any:
        if not isinstance(node, list | tuple):
            raise TreeError(at, node, words(hint))
        if not is_long and len(readers) != len(node):
            raise TreeError(at, node, f"{len(readers)} items")
        each = enumerate(zip(cycle(readers), node, strict=False))
        return tuple(reading(item, (*at, index)) for index, (reading, item) in each)

    return read_list


def _mapping(read_key: Read, read_value: Read) -> Read:
    def mapping(node: Any, at: Place) -> Any:
        if not isinstance(node, dict):
            raise TreeError(at, node, "a table")
        items = ((key, value, (*at, key)) for key, value in node.items())
        return {read_key(key, place): read_value(value, place) for key, value, place in items}

    return mapping


def tree_of(table: Any) -> Any:
    """Return a table, or what is in it, as it may be written; what is None is left out."""
    node = to_builtins(table)
    if isinstance(node, dict):
        return {key: tree_of(item) for key, item in node.items() if item is not None}
    return [*map(tree_of, node)] if isinstance(node, list) else node


_PLAIN: Mapping[Any, str] = {
    str: "a string",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
}


def words(hint: Any) -> str:
    """Say what is expected of a field of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        marks = (mark.expected for mark in arguments[1:] if isinstance(mark, Mark))
        return next(filter(None, marks), words(arguments[0]))
    if origin in (Union, UnionType):
        return words(next(each for each in arguments if each is not NoneType))
    if origin is Literal:
        *others, last = map(repr, arguments)
        return f"{', '.join(others)} or {last}" if others else last
    if origin in (tuple, Sequence):
        return "a list of tables" if isinstance(arguments[0], PartType) else "a list"
    is_table = origin in (dict, Mapping) or isinstance(hint, PartType)
    return "a table" if is_table else _PLAIN.get(hint, "another kind of value")
