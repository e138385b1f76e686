"""TOML files of constants with sources: read into frozen, validated models, and written.

Chips and stacks are both datasheets. A directory of them is a `Shelf` with a file for each. Short
datasheets are together in its `listed.toml`, if there is one: each is a table with the name of the
datasheet. `shared.toml` has constants that are common to all, which complete the tables of each
datasheet. A table that is optional in the schema is completed but never added, so that a chip
without a tensor engine does not get one. A datasheet that is `like` a shipped one first takes the
tables and constants from it that it does not state. Every mistake in a file is reported in one
sentence with file, key and the expected value. `recorded` records which constants a computation
reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from hexsim.datasheets.quantity import Quantity
from hexsim.datasheets.texts import DatasheetTexts, Tree, copied
from hexsim.errors import unknown
from hexsim.texts.tables import Table, fields, parts, read, reread, tree_of


class FieldsRead:
    """The fields that were read, by table; references to the tables keep their ids unique."""

    def __init__(self) -> None:
        self._fields: dict[int, tuple[DatasheetTable, set[str]]] = {}

    def add(self, table: DatasheetTable, field: str) -> None:
        """Record that a field was read."""
        self._fields.setdefault(id(table), (table, set()))[1].add(field)

    def of(self, datasheet: Datasheet) -> frozenset[str]:
        """Return the dotted paths of the constants of `datasheet` that were read."""
        paths = set(self._paths(datasheet, ""))
        return frozenset(
            path
            for path, _ in datasheet.quantities()
            if path in paths or path.partition(".")[0] in paths  # tables with keys of their own
        )

    def _paths(self, table: DatasheetTable, prefix: str) -> Iterator[str]:
        _, names = self._fields.get(id(table), (table, set()))
        for key, known in fields(type(table)).items():
            node = Table.__getattribute__(table, known.name)
            if isinstance(node, DatasheetTable):
                yield from self._paths(node, f"{prefix}{key}.")
            elif known.name in names:
                yield prefix + key


_reads: ContextVar[FieldsRead | None] = ContextVar("_reads", default=None)


@contextmanager
def recorded() -> Iterator[FieldsRead]:
    """Record which fields of datasheets are read in the context."""
    reads = FieldsRead()
    token = _reads.set(reads)
    try:
        yield reads
    finally:
        _reads.reset(token)


class DatasheetTable(Table, forbid_unknown_fields=True):
    """One table of a datasheet: frozen, without unknown keys."""

    def __getattribute__(self, name: str) -> Any:
        """Return a field, and record that it was read if there is a recording."""
        if (reads := _reads.get()) is not None and not name.startswith("_"):
            reads.add(self, name)
        return super().__getattribute__(name)


class Datasheet(DatasheetTable):
    """A whole file. Its fields are plain numbers; `quantities` yields them with units and sources.

    `like` names a shipped datasheet, from which this one takes the tables that it does not state.
    """

    name: str
    title: str
    like: str = ""
    _tree: Tree = field(default_factory=dict)

    @classmethod
    def from_tree(cls, tree: Tree, where: str) -> Self:
        """Validate a parsed file; HexsimError names `where`, the key and the expected value."""
        return replace(read(cls, tree, where), _tree=tree)

    def quantities(self) -> Iterator[tuple[str, Quantity]]:
        """Yield (dotted path, constant) for every constant, in file order."""
        return iter(self.stated)

    @cached_property
    def stated(self) -> tuple[tuple[str, Quantity], ...]:
        """Every constant as in `quantities`; each is validated once."""
        return tuple(_quantities(self._tree, ""))

    def with_value(self, path: str, value: float) -> Self:
        """Return a copy in which the constant at the dotted `path` has another value.

        The source of the copy says that the caller set it. Whole numbers of the schema are
        rounded. Raises HexsimError for an unknown path and for a value that the schema refuses.
        """
        known = dict(self.quantities())
        if path not in known:
            raise unknown(f"constant of {self.name}", path, known)
        return self.restated({path: set_by_caller(known[path], value)})

    def states(self, path: str) -> bool:
        """Tell whether there is a constant at the dotted `path`."""
        return _is_quantity(_node(self._tree, path))

    def is_counted(self, path: str) -> bool:
        """Tell whether the constant at the dotted `path` is a whole number."""
        return _is_whole(type(self), path)

    def restated(self, constants: Mapping[str, Quantity]) -> Self:
        """Return a copy with other constants at existing dotted paths.

        Values are rounded as in `with_value`. Raises HexsimError if the schema refuses a value.
        """
        return self._with({path: tree_of(constant) for path, constant in constants.items()})

    def certain(self, values: Mapping[str, float]) -> Self:
        """Return a copy with other values at existing dotted paths, which are also their bounds."""
        tree, ends = self._tree, ("value", "low", "high")
        return self._with(
            {path: _node(tree, path) | dict.fromkeys(ends, v) for path, v in values.items()}
        )

    def _with(self, constants: Mapping[str, Tree]) -> Self:
        tree, schema = {**self._tree}, type(self)
        for path, constant in constants.items():
            *tables, key = path.split(".")
            node = tree
            for table in tables:
                node[table] = node = {**node[table]}  # a copy: others share the tree
            node[key] = constant | _rounded(constant) if _is_whole(schema, path) else constant
        return replace(reread(self, self._tree, tree, self.name), _tree=tree)

    def at_end(self, end: Literal["low", "high"], begun: tuple[str, ...] = ("",)) -> Self:
        """Return a copy with all constants at a bound whose path begins with a text of `begun`."""
        bounds = {}
        for path, constant in self.quantities():
            bound = getattr(constant, end)
            if bound is not None and path.startswith(begun):
                bounds[path] = replace(constant, value=bound)
        return self.restated(bounds)

    @property
    def tree(self) -> Tree:
        """A copy of the parsed file, completed by shared constants."""
        return copied(self._tree)


def set_by_caller(
    constant: Quantity, value: float, source: str = "set by the caller", error: float = 0.0
) -> Quantity:
    """Return a constant with another value and source, and bounds by its error's logarithm."""
    return Quantity(
        value=value,
        unit=constant.unit,
        source=source,
        confidence="assumed",
        low=value * math.exp(-error),
        high=value * math.exp(error),
    )


DatasheetT = TypeVar("DatasheetT", bound=Datasheet)


class Shelf(Generic[DatasheetT]):
    """The shipped datasheets of one kind, in one directory."""

    def __init__(self, datasheet: type[DatasheetT], kind: str, directory: Path) -> None:
        self._model = datasheet
        self._texts = DatasheetTexts(kind, directory)
        self._loaded: dict[str, DatasheetT] = {}
        self.heads = self._texts.heads

    def names(self) -> tuple[str, ...]:
        """List the built-in names; the datasheets with a file of their own are not read."""
        return self._texts.names()

    def load(self, name_or_path: str | Path) -> DatasheetT:
        """Load a built-in datasheet by name, or the user's own by the path of its .toml file.

        A built-in one is read once by a process; the user may change a file of their own meanwhile.
        """
        name = str(name_or_path)
        if name not in self._loaded:
            datasheet = self._read(name_or_path)
            if name.endswith(".toml"):
                return datasheet
            self._loaded[name] = datasheet
        return self._loaded[name]

    def _read(self, name_or_path: str | Path) -> DatasheetT:
        tree, where = self._texts.located(name_or_path)
        if isinstance(like := tree.get("like"), str):
            _fill(tree, self._texts.tables_of(like))
        required = {key for key, known in fields(self._model).items() if known.is_required}
        shared = self._texts.shared.items()
        _fill(tree, copied({key: node for key, node in shared if key in required or key in tree}))
        return self._model.from_tree(tree, where)


@cache
def _is_whole(model: type[Struct], path: str) -> bool:
    """Tell whether the schema takes only whole numbers at the dotted `path`."""
    name, _, inner_path = path.partition(".")
    types = [*parts(fields(model)[name].type)]
    if inner_path:
        tables = (kind for kind in types if isinstance(kind, type) and issubclass(kind, Struct))
        return any(_is_whole(table, inner_path) for table in tables)
    return int in types


def _rounded(constant: Tree) -> Tree:
    """Return value and bounds of a whole constant; the bounds include the rounded value."""
    value = float(round(constant["value"]))
    bounds = {"low": min, "high": max}
    ends = {key: end(constant[key], value) for key, end in bounds.items() if key in constant}
    return {"value": value, **ends}


def _node(tree: Tree, path: str) -> Any:
    """Return what is at a dotted path, the tree itself for an empty one; None if nothing is."""
    node: Any = tree
    for step in filter(None, path.split(".")):
        node = node.get(step) if isinstance(node, dict) else None
    return node


def _is_quantity(node: object) -> bool:
    return isinstance(node, dict) and "value" in node


def _fill(tree: Tree, shared: Tree) -> None:
    """Add to `tree` the constants of `shared` that it lacks, table by table."""
    for key, node in shared.items():
        stated = tree.setdefault(key, node)
        if isinstance(stated, dict) and isinstance(node, dict) and not _is_quantity(node):
            _fill(stated, node)


def _quantities(tree: Tree, prefix: str) -> Iterator[tuple[str, Quantity]]:
    for key, node in tree.items():
        if _is_quantity(node):
            yield prefix + key, read(Quantity, node, prefix + key)
        elif isinstance(node, dict):
            yield from _quantities(node, f"{prefix}{key}.")


def datasheet_text(datasheet: Datasheet, title: str) -> str:
    """Return the file of a datasheet under another title; constants are inline tables."""
    tree = {**datasheet.tree, "title": title}
    return "\n".join(_lines(tree, ())) + "\n"


def _lines(table: Tree, at: tuple[str, ...]) -> Iterator[str]:
    below = {key: node for key, node in table.items() if _is_table(node)}
    own = [key for key in table if key not in below]
    if at and (own or not below):
        yield f"\n[{'.'.join(at)}]"
    for key in own:
        yield f"{_key(key)} = {_value(table[key])}"
    for key, node in below.items():
        yield from _lines(node, (*at, key))


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)


def _is_table(node: object) -> bool:
    return isinstance(node, dict) and "value" not in node


def _value(node: Any) -> str:
    if isinstance(node, dict):
        return f"{{ {', '.join(f'{key} = {_value(item)}' for key, item in node.items())} }}"
    if isinstance(node, list | tuple):
        return f"[{', '.join(map(_value, node))}]"
    if isinstance(node, str):
        return json.dumps(node, ensure_ascii=False)
    return str(node).lower() if isinstance(node, bool) else repr(node)
