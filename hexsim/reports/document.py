"""Results as data for JSON and CSV: each object is declared once, by its keys and their sources.

A key says its unit (`total_us`, `peak_bytes`); docs/reference/json.md lists all keys.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hexsim import __version__
from hexsim.reports.csv_text import csv_text
from hexsim.timing.simtime import PS_PER_US

if TYPE_CHECKING:
    from hexsim.deployment.platform import Anchor

Source = str | Callable[[Any], Any]
"""A function of the result, or a path of attributes: `plan.network.name`.

A number in a path is an index, an attribute of None is None, and `low,high` is a list of both.
"""


class Record:
    """A JSON object, declared: a function from a result to data.

    `about` is its sentence in the documentation. The entries, in the order of the keys, are:

    - `"network total_us=times.total_ps"`: attributes, or paths under other names. Picoseconds
      (`..._ps`) become microseconds under a key that says so (`..._us`);
    - `{"key": source}`: the same for one key, or a function;
    - `{"key": (source, record)}`: an object, or None. `[record]` stands for a list of objects and
      `{"name": record}` for a mapping of names to objects;
    - another record: its keys;
    - `(source, ...)`: the entries of an object, none of their keys if it is None.
    """

    def __init__(self, about: str, *entries: Entry) -> None:
        self.about = about
        self._parts = tuple(part for entry in entries for part in _parts(entry))

    def __call__(self, result: object = None, /, **results: object) -> dict[str, Any]:
        """Return the data of `result`, or of several by the names of the sources."""
        whole = SimpleNamespace(**results) if results else result
        data: dict[str, Any] = {}
        for part in self._parts:
            value = part.get(whole)
            if part.key:
                data[part.key] = _shaped(value, part.shape)
            elif value is not None:
                data |= _shaped(value, part.shape)
        return data

    def fields(self) -> Iterator[tuple[str, Shape | None]]:
        """Yield each key with the shape of the objects below it."""
        for part in self._parts:
            if part.key:
                yield part.key, part.shape
            elif isinstance(part.shape, Record):
                yield from part.shape.fields()

    def csv(self, results: Iterable[object]) -> str:
        """Return CSV with a column for each key and a row for each result."""
        header = [key for key, _ in self.fields()]
        rows = map(self, results)
        return csv_text(header, ([_cell(row.get(key)) for key in header] for row in rows))


Shape = Record | list[Record] | dict[str, Record]
Entry = str | Mapping[str, Source | tuple[Source, Shape]] | Record | tuple[Any, ...]


@dataclass(frozen=True)
class _Part:
    """A key, or the keys of another record if it is empty; what it comes from and consists of."""

    key: str
    get: Callable[[Any], Any]
    shape: Shape | None = None


def _parts(entry: Any) -> Iterator[_Part]:
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
    names, is_ps = source.split("."), source.endswith("_ps") and key.endswith("_us")

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


def _cell(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else value


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


def json_document(facts: Mapping[str, Any], *, indent: int = 1) -> str:
    """Return `facts` as a JSON document with the version of hexsim first."""
    document = {"hexsim_version": __version__, **facts}
    return json.dumps(plain(document), indent=indent, allow_nan=False) + "\n"


anchor_keys = Record(
    "A latency measured on the phone, to which the speed of a tensor processor is set.",
    {
        "anchor": lambda result: result.anchor and str(result.anchor),
        "anchor_error": (
            "anchor",
            Record(
                "Its own error, and the causes of that error.",
                {
                    "share": "error",
                    "causes": lambda anchor: {
                        name: cause.model_dump(exclude_none=True)
                        for name, cause in anchor.causes.items()
                    },
                },
            ),
        ),
    },
)
"""The keys of a calibration point, of any result that has an `anchor`."""


def attributes(source: object, *names: str, **paths: str) -> dict[str, Any]:
    """Return attributes of `source` as data: `names` under their own names, then `paths` by key.

    A path may be dotted: `network="plan.network.name"`. Picoseconds (`..._ps`) become microseconds
    under a key that says so (`..._us`). Raise AttributeError for an unknown name.
    """
    return {
        key: plain(attrgetter(path)(source), is_ps=path.endswith("_ps") and key.endswith("_us"))
        for key, path in {**{name: name for name in names}, **paths}.items()
    }


def anchor_facts(anchor: Anchor | None) -> dict[str, Any]:
    """Return the option, its own error with its causes, as shares, and the factors of a profile.

    Each is None without an anchor.
    """
    if anchor is None:
        return {"anchor": None, "anchor_error": None, "anchor_classes": None}
    causes = {name: cause.model_dump(exclude_none=True) for name, cause in anchor.causes.items()}
    return {
        "anchor": str(anchor),
        "anchor_error": {"share": anchor.error, "causes": causes},
        "anchor_classes": getattr(anchor, "classes", None),
    }
