"""CSV with a header: every row has a value for each column.

No spreadsheet program computes a text that is written here as a formula.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hexsim.errors import InvalidTextError
from hexsim.texts.text import visible
from hexsim.texts.trees import MOST_VALUES

_FORMULA = ("=", "+", "-", "@")
"""First characters that make a spreadsheet compute a cell. Source: OWASP, "CSV Injection"."""


def parse_csv(
    text: str, where: str, check_header: Callable[[list[str]], None]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and stripped values by column of each row that is not blank.

    `check_header` checks the names of the columns. Raises InvalidTextError, with `where` and line.
    """
    cells = text.count(",")
    if cells > MOST_VALUES:
        raise InvalidTextError(f"{where} has about {cells} values, more than {MOST_VALUES}")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        check_header(header)
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            if len(fields) != len(header):
                raise InvalidTextError(
                    f"{where}, line {reader.line_num}: {len(fields)} values, and the header has "
                    f"{len(header)} columns"
                )
            values = (field.strip() for field in fields)
            yield reader.line_num, dict(zip(header, values, strict=True))
    except csv.Error as error:
        raise InvalidTextError(f"{where}, line {reader.line_num}: not CSV ({error})") from None


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
        value = " ".join(map(str, value))
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
