"""Results as data for JSON and CSV: each object is declared once, by its keys and their sources.

A key says its unit (`total_us`, `peak_bytes`); docs/reference/json.md lists all keys.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any, NamedTuple

from hexsim import __version__
from hexsim.texts.csv_text import csv_text
from hexsim.timing.simtime import PS_PER_US

Source = str | Callable[[Any], Any]
"""A function of the result, or a path of attributes: `plan.network.name`.

A number in a path is an index, an attribute of None is None, `low,high` is a list of both, and an
empty path the result itself.
"""


class Record:
    """A JSON object, declared: a function from a result to data.

    `about` is its sentence in the documentation. The entries, in the order of the keys, are:

    - `"network total_us=times.total_ps"`: attributes, or paths under other names. Picoseconds
      (`..._ps`) become microseconds under a key that says so (`..._us`);
    - `{"key": source}`: the same for one key, or a function;
    - `{"key": (source, record)}`: an object, or None. `[record]` stands for a list of objects and
      `{"name": record}` for a mapping of names to objects;
    - a dataclass: its fields; another record: its keys;
    - `(source, ...)`: the entries of an object, none of their keys if it is None.

    With `results`, names of several results, it takes these instead of one; the last may be absent.
    """

    def __init__(self, about: str, *entries: Entry, results: str = "") -> None:
        self.about = about
        self._results = results.split()
        self._parts = [part for entry in entries for part in _parts(entry)]

    def __call__(self, *results: object) -> dict[str, Any]:
        """Return the data of a result."""
        named = dict(zip_longest(self._results, results))
        whole = SimpleNamespace(**named) if self._results else results[0]
        data: dict[str, Any] = {}
        for part in self._parts:
            value = part.get(whole)
            if part.key:
                data[part.key] = _shaped(value, part.shape)
            elif value is not None:
                data |= _shaped(value, part.shape)
        return data

    def fields(self) -> dict[str, Shape | None]:
        """Return each key with the shape of the objects below it."""
        shapes: dict[str, Shape | None] = {}
        for part in self._parts:
            is_object = not part.key and isinstance(part.shape, Record)
            shapes |= part.shape.fields() if is_object else {part.key: part.shape}
        return shapes

    def json(self, *results: object) -> str:
        """Return the JSON document of a result, with the version of hexsim first."""
        document = {"hexsim_version": __version__, **self(*results)}
        return json.dumps(document, indent=1, allow_nan=False) + "\n"

    def csv(self, results: Iterable[object]) -> str:
        """Return CSV with a column for each key and a row for each result."""
        keys = list(self.fields())
        return csv_text(keys, ([row.get(key) for key in keys] for row in map(self, results)))


Shape = Record | list[Record] | dict[str, Record]
Entry = str | Mapping[str, Source | tuple[Source, Shape]] | Record | type | tuple[Any, ...]


class _Part(NamedTuple):
    """A key, or the keys of another record if it is empty; what it comes from and consists of."""

    key: str
    get: Callable[[Any], Any]
    shape: Any = None


def _parts(entry: Any) -> Iterator[_Part]:
    if isinstance(entry, type):
        entry = " ".join(field.name for field in fields(entry))
    if isinstance(entry, str):
        pairs = (name.partition("=") for name in entry.split())
        entry = {key: path or key for key, _, path in pairs}
    if isinstance(entry, Record):
        yield from entry._parts
    elif isinstance(entry, tuple):
        yield _Part("", _getter("", entry[0]), Record("", *entry[1:]))
    else:
        for key, source in entry.items():
            path, shape = source if isinstance(source, tuple) else (source, None)
            yield _Part(key, _getter(key, path), shape)


def _getter(key: str, source: Source) -> Callable[[Any], Any]:
    if callable(source):
        return source
    if "," in source:
        each = [_getter(key, path) for path in source.split(",")]
        return lambda result: [get(result) for get in each]
    names = source.split(".") if source else []
    is_ps = source.endswith("_ps") and key.endswith("_us")

    def get(result: Any) -> Any:
        for name in names:
            if result is not None:
                result = result[int(name)] if name.isdigit() else getattr(result, name)
        return plain(result, is_ps=True) if is_ps else result

    return get


def _shaped(value: Any, shape: Shape | None) -> Any:
    if value is None or shape is None:
        return plain(value)
    if isinstance(shape, list):
        return [shape[0](item) for item in value]
    if isinstance(shape, dict):
        (record,) = shape.values()
        return {key: record(item) for key, item in value.items()}
    return shape(value)


def plain(value: Any, *, is_ps: bool = False) -> Any:
    """Return dataclasses as dicts, tuples as lists, and numbers that are not finite as None.

    With `is_ps`, numbers are picoseconds and become microseconds.
    """
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item, is_ps=is_ps) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, is_ps=is_ps) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no infinity
    return value / PS_PER_US if is_ps and value is not None else value
