"""Rows as Parquet: every parameter and every counter is a column.

Equal rows give equal bytes. What a file was swept from stands in its metadata.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.studies import pool
from hexsim.studies.sweep.evaluation import RESULTS, Row
from hexsim.studies.sweep.space import Space
from hexsim.texts.json_text import parse_json
from hexsim.texts.names import visible
from hexsim.texts.text import decoded

if TYPE_CHECKING:
    import pyarrow

FORMAT = 3
"""Raised when columns come, go, or change their meaning."""
_KEY = b"hexsim"
_TEXTS = (
    "network",
    "chip",
    "stack",
    "runtime",
    "cut",
    "background",
    "perf_profile",
    "buffer",
    "outside_bounds",
    "refusal",
)
_COUNTS = ("point", "instances")
PARAMETERS = (
    "network",
    "chip",
    "stack",
    "runtime",
    "cut",
    "instances",
    "background",
    "perf_profile",
    "buffer",
    "idle_ms",
)
"""What may vary beside constants."""


@dataclass(frozen=True)
class Swept:
    """The answer: a table with a row for each point, in order, and what it was made from."""

    table: pyarrow.Table
    space: Space
    version: str

    @property
    def varied(self) -> tuple[str, ...]:
        """Parameters that have more than one value here."""
        columns = (*PARAMETERS, *self.space.constants)
        return tuple(name for name in columns if len(self.table[name].unique()) > 1)

    @property
    def results(self) -> tuple[str, ...]:
        """Columns of numbers that simulations gave."""
        return tuple(name for name in RESULTS if name in self.table.column_names)


def table_of(rows: Sequence[Row]) -> pyarrow.Table:
    """A table with a column for every key of the rows."""
    import pyarrow

    names = list(rows[0])
    schema = pyarrow.schema([(name, _type(name)) for name in names])
    return pyarrow.table({name: [row[name] for row in rows] for name in names}, schema=schema)


def _type(name: str) -> pyarrow.DataType:
    import pyarrow

    if name in _TEXTS:
        return pyarrow.string()
    return pyarrow.int64() if name in _COUNTS else pyarrow.float64()


def as_bytes(tables: Iterable[pyarrow.Table], space: Space, version: str) -> bytes:
    """The file of some tables of a space, one behind the other."""
    import pyarrow
    from pyarrow import parquet

    told = {
        "format": FORMAT,
        "version": version,
        "space": space.model_dump(mode="json", exclude_none=True),
    }
    whole = pyarrow.concat_tables(tables).combine_chunks()
    whole = whole.replace_schema_metadata({_KEY: json.dumps(told).encode()})
    out = io.BytesIO()
    parquet.write_table(whole, out, compression="zstd")
    return out.getvalue()


def read(path: Path) -> Swept:
    """Read the file of a sweep; HexsimError for one that is damaged or none of ours."""
    require_libraries()
    import pyarrow
    from pyarrow import parquet

    remedy = "give a file that hexsim sweep has written"
    try:
        with path.open("rb") as file:
            # Its threads may outlive the command, and what is freed under them ends the process.
            table = parquet.read_table(file, use_threads=False, pre_buffer=False)
    except OSError as error:
        raise HexsimError(
            f"cannot read '{path}': {error.strerror or 'damaged'}; {remedy}"
        ) from None
    except (pyarrow.ArrowException, ValueError) as error:
        raise HexsimError(f"'{path}' is no Parquet file, or damaged; {remedy}") from error
    try:
        held = decoded((table.schema.metadata or {}).get(_KEY, b"{}"), "its metadata")
        told: Mapping[str, Any] = parse_json(held, "its metadata")
    except InvalidDataError as error:
        raise HexsimError(f"'{path}' is no sweep's answer: {error}; {remedy}") from error
    if not isinstance(told, dict) or "format" not in told:
        raise HexsimError(f"'{path}' is no sweep's answer; {remedy}")
    if told["format"] != FORMAT:
        raise HexsimError(
            f"'{path}' has format {told['format']} of hexsim {told.get('version')}, and this "
            f"hexsim reads {FORMAT}; sweep again, or read it with that version"
        )
    try:
        space, version = Space.model_validate(told["space"]), str(told["version"])
    except (KeyError, ValidationError):
        raise HexsimError(f"'{path}' does not tell its space any more; {remedy}") from None
    _require_whole(table, space, f"'{path}'", remedy)
    return Swept(_with_visible_texts(table), space, version)


def _with_visible_texts(table: pyarrow.Table) -> pyarrow.Table:
    """The table with every text as it may be shown; what is no UTF-8 is refused by Arrow."""
    import pyarrow

    for name in _TEXTS:
        texts = table[name].to_pylist()
        if not all(text is None or text.isprintable() for text in texts):
            shown = [None if text is None else visible(text) for text in texts]
            at = table.column_names.index(name)
            table = table.set_column(at, table.field(at), pyarrow.array(shown, _type(name)))
    return table


def _require_whole(table: pyarrow.Table, space: Space, where: str, remedy: str) -> None:
    """Raise HexsimError if another program has taken rows or columns away, or changed them."""
    names = ("point", *PARAMETERS, *space.constants, *RESULTS, "outside_bounds", "refusal")
    for name in names:
        if table.column_names.count(name) != 1 or table.schema.field(name).type != _type(name):
            raise HexsimError(
                f"column '{name}' of {where} is missing, or not as a sweep writes it; {remedy}"
            )
    if not table.num_rows:
        raise HexsimError(f"{where} has no points any more; {remedy}")


def require_libraries() -> None:
    """Raise HexsimError unless what sweeps need is installed."""
    pool.require_libraries("sweeps need", "pyarrow")
