"""Rows of the CSV files of this folder as dataclasses."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

_Row = TypeVar("_Row")
Record = Mapping[str, str]
"""A line of a file, by the names of its columns."""


def read_rows(file: str, kind: type[_Row], **others: Callable[[Record], Any]) -> tuple[_Row, ...]:
    """Return all rows of a file, in its order.

    A field of `kind` is the column of its name, read by the field's type (str, int or float);
    `others` make fields that are no columns, or need more than that.
    """
    read = get_type_hints(kind)
    names = [name for name in read if name not in others]
    with Path(__file__).with_name(file).open(encoding="utf-8", newline="") as lines:
        return tuple(
            kind(
                **{name: read[name](record[name]) for name in names},
                **{name: of(record) for name, of in others.items()},
            )
            for record in csv.DictReader(lines)
        )
