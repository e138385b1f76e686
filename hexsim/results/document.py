"""Documents: the answer to a question, as JSON, CSV, a data frame or a page, and read back.

A document is a tree of parts (`hexsim.texts.fields`). Its JSON has the keys that the parts
declare, in their order, behind the version that wrote it; a number that is not finite is `null`.
Reading is strict about what the parts declare, and ignores other keys, so that a file of a later
version can be read if it has what this one needs.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from hexsim import __version__
from hexsim.errors import HexsimError
from hexsim.files.atomic_write import write_bytes
from hexsim.texts.csv_text import csv_text
from hexsim.texts.extras import missing
from hexsim.texts.fields import Field, Part, fields, part_of, stored
from hexsim.texts.text import read_text, visible
from hexsim.texts.trees import parse_json

_VIEWS = "hexsim.reports.documents"
"""The module above that makes pages and tables of documents, imported when one is wanted."""


class Document(Part):
    """The answer to a question."""

    WRITTEN_BY: ClassVar[str] = ""
    """The commands that write it as JSON, for messages and the reference page."""
    ROWS: ClassVar[str] = ""
    """The field whose parts are the rows of its data frame and of its table in a notebook."""
    ROW: ClassVar[type[Part] | None] = None
    """The class of its rows, if they are in no field."""

    @property
    def title(self) -> str:
        """Its main figure in one line."""
        raise NotImplementedError

    @property
    def rows(self) -> tuple[Part, ...]:
        """The parts that its data frame lists."""
        return tuple(getattr(self, self.ROWS))

    @classmethod
    def row_kind(cls) -> type[Part] | None:
        """The class of its rows, which gives the columns of a table without rows."""
        listed = part_of(fields(cls)[cls.ROWS].type) if cls.ROW is None else (cls.ROW,)
        return listed and listed[0]

    @property
    def without_page(self) -> str:
        """Why it has no page, though others of its class have; empty if it has one."""
        return ""

    def stored(self) -> "Document":
        """Return the document that files hold: itself, or one of which it is a part."""
        return self

    def to_json(self, path: str | Path | None = None) -> str:
        """Return it as JSON, as the commands write it; write it to a `path` as `html` does."""
        tree = {"hexsim_version": __version__, **plain(self.stored())}
        return _written(json.dumps(tree, indent=1, allow_nan=False) + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return its rows as CSV, as the commands do; write them to a `path` as `html` does."""
        return _written(import_module(_VIEWS).csv_text_of(self), path)

    def html(self, path: str | Path | None = None, *, command: str = "") -> str:
        """Return it as a page for a browser, and write it to `path` if one is given.

        `command` is the command line that the page names. Raises HexsimError if it has no page, and
        if the file cannot be written.
        """
        return _written(import_module(_VIEWS).page_of(self, command), path)

    def to_dataframe(self) -> Any:
        """Return its rows as a pandas.DataFrame; HexsimError if pandas is not installed."""
        names = columns(type(self.rows[0])) if self.rows else {}
        cells = [[getattr(row, name) for name in names] for row in self.rows]
        return pandas().DataFrame(cells, columns=list(names))

    def save(self, path: str | Path) -> None:
        """Write it completely or not at all: .json, .csv or .html, by the end of the name.

        Raises HexsimError for another name, and if the file cannot be written.
        """
        writers = {".json": self.to_json, ".csv": self.to_csv, ".html": self.html}
        suffix = Path(path).suffix.lower()
        if suffix not in writers:
            raise HexsimError(f"'{path}' ends in none of {', '.join(writers)}; name it so")
        writers[suffix](path)

    @classmethod
    def from_json(cls, text: str, where: str = "the text") -> Self:
        """Read what `to_json` wrote; raise HexsimError, naming `where`, if it is anything else."""
        tree = parse_json(text, where)
        if isinstance(tree, dict):
            tree = {key: value for key, value in tree.items() if key in _keys(cls)}
        try:
            return msgspec.convert(tree, cls, str_keys=True)
        except msgspec.ValidationError as error:
            raise HexsimError(
                f"{where}: {_fault(str(error))}; give the JSON that {cls.WRITTEN_BY} wrote"
            ) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a JSON file that `save` or a command wrote; raise HexsimError for another."""
        remedy = f"give the JSON that {cls.WRITTEN_BY} wrote"
        return cls.from_json(read_text(Path(path), "results", remedy), str(path))

    if not TYPE_CHECKING:  # a checker knows the attributes, and this takes any

        def __getattr__(self, name):
            public = [known for known in dir(type(self)) if not known.startswith("_")]
            near = get_close_matches(name, public, 3, 0.65) or self.__struct_fields__
            hint = "" if name.startswith("_") else f"; it has {', '.join(near)}"
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{hint}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {visible(self.title)}>"

    def __str__(self) -> str:
        text: str = import_module(_VIEWS).text_of(self)
        return text

    def _repr_html_(self) -> str:
        table: str = import_module(_VIEWS).notebook_table(self)
        return table


def _written(text: str, path: str | Path | None) -> str:
    """Return a text, after writing it to `path` if one is given."""
    if path is not None:
        write_bytes(Path(path), text.encode(errors="backslashreplace"))
    return text


def pandas() -> Any:
    """Return the library for data frames; HexsimError if it is not installed."""
    try:
        return import_module("pandas")
    except ImportError:
        raise missing("a data frame needs pandas, which is not installed", "notebook") from None


def plain(value: Any) -> Any:
    """Return parts and dataclasses as mappings by key, numbers that are not finite as None."""
    if isinstance(value, Part):
        return {
            field.key: _plain_as(field.is_fraction, getattr(value, field.name))
            for field in _stored(type(value))
        }
    if is_dataclass(value):
        return {
            field.name: _plain_as(field.type in (float, "float"), getattr(value, field.name))
            for field in dataclass_fields(value)
        }
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain_as(is_fraction: bool, value: Any) -> Any:
    """Return the value of a field; in one of fractions a whole number is what a reader gets."""
    return float(value) if is_fraction and type(value) is int else plain(value)


def csv_of(rows: Sequence[Part], kind: type[Part] | None = None) -> str:
    """Return parts of one class as CSV: a column for each key that holds one value or a list.

    `kind` is their class, which gives the header if there are none.
    """
    kind = type(rows[0]) if rows else kind
    names = columns(kind) if kind else {}
    return csv_text(
        [*names.values()], ([plain(getattr(row, name)) for name in names] for row in rows)
    )


def columns(kind: type[Part]) -> dict[str, str]:
    """Return the attributes that hold no parts and no mappings, with their keys."""
    return {field.name: field.key for field in _stored(kind) if not _is_nested(field)}


def _is_nested(field: Field) -> bool:
    return part_of(field.type) is not None or "Mapping" in str(field.type)


@cache
def _stored(kind: type[Part]) -> tuple[Field, ...]:
    return tuple(stored(kind))


@cache
def _keys(kind: type[Part]) -> frozenset[str]:
    return frozenset(field.key for field in _stored(kind))


def _fault(message: str) -> str:
    """Return what msgspec found in our words: the key first, then what was expected."""
    text, _, path = message.partition(" - at `$")
    text = text.replace("`", "'").replace("Object missing required field", "there is no key")
    key = path.rstrip("`").lstrip(".")
    return f"key '{key}': {text[:1].lower()}{text[1:]}" if key else f"{text[:1].lower()}{text[1:]}"
