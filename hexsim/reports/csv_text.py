"""CSV whose texts no spreadsheet program computes as formulas."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from hexsim.texts.names import visible

_FORMULA = ("=", "+", "-", "@")
"""First characters that make a spreadsheet compute a cell. Source: OWASP, "CSV Injection"."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return `rows` under `header`; a text that a spreadsheet would compute gets an apostrophe.

    Numbers stay as they are; None is empty, and a list is its words.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(value)
    if not isinstance(value, str) or _is_number(value):
        return value
    printable = visible(value)
    return f"'{printable}" if printable.startswith(_FORMULA) else printable


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
