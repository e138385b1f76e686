"""CSV with a header: every row has a value for each column."""

import csv
from collections.abc import Callable, Iterator

from hexsim.errors import InvalidDataError


def parse_csv(
    text: str, where: str, check_header: Callable[[list[str]], None]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and stripped values by column of each row that is not blank.

    `check_header` checks the names of the columns. Raises InvalidDataError, with `where` and line.
    """
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        check_header(header)
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            if len(fields) != len(header):
                raise InvalidDataError(
                    f"{where}, line {reader.line_num}: {len(fields)} values, and the header has "
                    f"{len(header)} columns"
                )
            values = (field.strip() for field in fields)
            yield reader.line_num, dict(zip(header, values, strict=True))
    except csv.Error as error:
        raise InvalidDataError(f"{where}, line {reader.line_num}: not CSV ({error})") from None
