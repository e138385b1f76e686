"""Sweep results as Parquet: every parameter and every counter is a column.

Equal rows give equal bytes. The metadata of a file has the space of the sweep.

Its parts are simulated by workers, and stored in a folder until all are finished. A part is a file
of its own, written atomically. The folder records the identity of its sweep, so that parts of two
sweeps are never mixed.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexsim import __version__, budget
from hexsim.errors import HexsimError, InvalidDataError, counting
from hexsim.files.atomic_write import clean_tree, outside_transaction, write_bytes
from hexsim.records import dataclass
from hexsim.studies import pool
from hexsim.studies.pool import Pool, ranges
from hexsim.studies.sweep.points import RESULTS, Points, Row, row
from hexsim.studies.sweep.settings import DEPLOYMENT, settings
from hexsim.studies.sweep.space import Space
from hexsim.texts import tables
from hexsim.texts.tables import tree_of
from hexsim.texts.text import decoded, shortened, visible
from hexsim.texts.trees import parse_json

if TYPE_CHECKING:
    import pyarrow


FORMAT = 5
"""Increased when columns are added, removed, or change their meaning."""
_KEY = b"hexsim"
PARAMETERS: Mapping[str, type] = {
    **dict.fromkeys(("network", "chip", "stack", "runtime", "cut"), str),
    **{"instances": int, "background": str, "perf_profile": str, "buffer": str},
    **{"idle_ms": float, "vtcm_mb": float},
    **dict(zip(DEPLOYMENT, (str, str, int, int), strict=True)),
}
"""Parameters that may vary besides constants, with the types of their columns."""
_TYPES = {**PARAMETERS, "point": int, "outside_bounds": str, "refusal": str}
"""Those of all columns but the numbers of constants and of the simulation."""
_TEXTS = [name for name, kind in _TYPES.items() if kind is str]
_EMPTY_AT_TIMES = frozenset((*RESULTS, *DEPLOYMENT, "vtcm_mb", "refusal"))
"""Columns without a value where a point was refused, or has no such parameter."""


@dataclass(frozen=True)
class Swept:
    """A sweep's result: a table with a row for each point, in order, and the space swept."""

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
        """Columns of numbers from the simulation."""
        return tuple(name for name in RESULTS if name in self.table.column_names)


def table_of(rows: Sequence[Row]) -> pyarrow.Table:
    """Return a table with a column for every key of the rows."""
    import pyarrow

    names = list(rows[0])
    schema = pyarrow.schema([(name, _type(name)) for name in names])
    return pyarrow.table({name: [row[name] for row in rows] for name in names}, schema=schema)


def _type(name: str) -> pyarrow.DataType:
    import pyarrow

    types = {str: pyarrow.string, int: pyarrow.int64, float: pyarrow.float64}
    return types[_TYPES.get(name, float)]()


def as_bytes(tables: Iterable[pyarrow.Table], space: Space, version: str) -> bytes:
    """Return the content of a file with the concatenated tables of a space."""
    import pyarrow
    from pyarrow import parquet

    metadata = {"format": FORMAT, "version": version, "space": tree_of(space)}
    joined = pyarrow.concat_tables(tables).combine_chunks()
    joined = joined.replace_schema_metadata({_KEY: json.dumps(metadata).encode()})
    out = io.BytesIO()
    parquet.write_table(joined, out, compression="zstd")
    return out.getvalue()


def read(path: Path) -> Swept:
    """Read the file of a sweep; raise HexsimError if it is damaged or not from a sweep."""
    require_libraries()
    import pyarrow
    from pyarrow import parquet

    remedy = "give a file that hexsim sweep has written"
    try:
        with path.open("rb") as file:
            # Arrow's threads may outlive the command and crash it by using freed memory.
            schema = parquet.read_schema(file)
            _require_types(schema, f"'{path}'", remedy)
            texts = [name for name in schema.names if name in _TEXTS]
            parts = parquet.ParquetFile(file, read_dictionary=texts, pre_buffer=False)
            size = parts.metadata.num_rows * parts.metadata.num_columns
            budget.require(budget.SWEPT, size, f"'{path}'")
            budget.require(budget.SWEPT_TEXTS, _text_bytes(parts.metadata), f"'{path}'")
            table = _with_plain_texts(parts.read(use_threads=False), f"'{path}'")
            table.validate(full=True)  # such as the UTF-8 of texts
    except OSError as error:
        raise HexsimError(
            f"cannot read '{path}': {error.strerror or 'damaged'}; {remedy}"
        ) from None
    except (pyarrow.ArrowException, ValueError) as error:
        raise HexsimError(f"'{path}' is no Parquet file, or damaged; {remedy}") from error
    try:
        text = decoded((table.schema.metadata or {}).get(_KEY, b"{}"), "its metadata")
        metadata: Mapping[str, Any] = parse_json(text, "its metadata")
    except InvalidDataError as error:
        raise HexsimError(f"'{path}' is no sweep's answer: {error}; {remedy}") from error
    if not isinstance(metadata, dict) or "format" not in metadata:
        raise HexsimError(f"'{path}' is no sweep's answer; {remedy}")
    if metadata["format"] != FORMAT:
        raise HexsimError(
            f"'{path}' has format {metadata['format']} of hexsim {metadata.get('version')}, and "
            f"this hexsim reads {FORMAT}; sweep again, or read it with that version"
        )
    try:
        space, version = (
            tables.read(Space, metadata["space"], "the space"),
            str(metadata["version"]),
        )
    except (KeyError, HexsimError):
        raise HexsimError(f"'{path}' has lost the description of its space; {remedy}") from None
    _require_whole(table, space, f"'{path}'", remedy)
    return Swept(_with_visible_texts(table), space, version)


def _require_types(schema: pyarrow.Schema, where: str, remedy: str) -> None:
    """Raise HexsimError if a column is there twice, or of another type than a sweep writes."""
    import pyarrow

    counts = Counter(schema.names)
    for field in schema:
        is_short = pyarrow.types.is_dictionary(field.type)
        kind = field.type.value_type if is_short else field.type
        if kind != _type(field.name) or counts[field.name] > 1:
            raise HexsimError(
                f"column '{visible(shortened(field.name))}' of {where} is not as a sweep writes "
                f"it, or there twice; {remedy}"
            )


def _text_bytes(metadata: Any) -> int:
    """Return how many bytes the columns of texts have in a file before they are compressed."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(at) for group in groups for at in range(group.num_columns))
    return sum(part.total_uncompressed_size for part in columns if part.path_in_schema in _TEXTS)


def _with_plain_texts(table: pyarrow.Table, where: str) -> pyarrow.Table:
    """Return the table with a text in each row; it is read with each text once."""
    from pyarrow import compute

    once = total = 0
    for at, field in enumerate(table.schema):
        if field.name in _TEXTS:
            for chunk in table.column(at).chunks:
                lengths = compute.binary_length(chunk.dictionary)
                once += compute.sum(lengths).as_py() or 0
                total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
            budget.require(budget.SWEPT_NAMES, once, where)
            budget.require(budget.SWEPT_TEXTS, total, where)
            table = table.set_column(at, field.name, table.column(at).cast(_type(field.name)))
    return table


def _with_visible_texts(table: pyarrow.Table) -> pyarrow.Table:
    """Return the table with every text printable."""
    import pyarrow

    for name in _TEXTS:
        texts = table[name].unique().to_pylist()
        if not all(text is None or text.isprintable() for text in texts):
            safe = [None if text is None else visible(text) for text in table[name].to_pylist()]
            at = table.column_names.index(name)
            table = table.set_column(at, table.field(at), pyarrow.array(safe, _type(name)))
    return table


def columns_of(space: Space) -> tuple[str, ...]:
    """Return the columns that the answer of a space has at least."""
    return ("point", *PARAMETERS, *space.constants, *RESULTS, "outside_bounds", "refusal")


def _require_whole(table: pyarrow.Table, space: Space, where: str, remedy: str) -> None:
    """Raise HexsimError if another program has removed or changed rows or columns."""
    for name in columns_of(space):
        if table.column_names.count(name) != 1 or table.schema.field(name).type != _type(name):
            raise HexsimError(
                f"column '{name}' of {where} is missing, or not as a sweep writes it; {remedy}"
            )
        if name not in _EMPTY_AT_TIMES and table[name].null_count:
            raise HexsimError(f"column '{name}' of {where} lacks values; {remedy}")
    if not table.num_rows:
        raise HexsimError(f"{where} has no points; {remedy}")


def require_libraries() -> None:
    """Raise HexsimError unless the libraries for sweeps are installed."""
    pool.require_libraries("sweeps need", "pyarrow")


_SIZE = 32
"""Least number of points in a part: about a second's work, which is lost when a worker dies."""
_MOST = 4096
"""Largest number of parts of a sweep: each costs a file and some milliseconds."""
_IDENTITY = "sweep.json"


@dataclass(frozen=True)
class SweepParts:
    """The folder of one sweep; `points` are divided into ranges of one size."""

    folder: Path
    points: Points

    def open(self) -> None:
        """Create the folder or continue with it; raise HexsimError if it is another sweep's.

        A folder without parts may be overwritten: its sweep ended before its first part.
        """
        identity = json.dumps({"format": FORMAT, "sweep": self._identity}).encode()
        identity_file = self.folder / _IDENTITY
        if not self.folder.exists() or self._has_no_parts():
            self._write(_IDENTITY, identity)
        elif not identity_file.is_file() or identity_file.read_bytes() != identity:
            raise HexsimError(
                f"'{self.folder}' holds the parts of another sweep, or something else; remove it "
                "to start again, or give the output another name"
            )

    def _has_no_parts(self) -> bool:
        """Return True for a folder that holds nothing but perhaps the identity of its sweep."""
        if not self.folder.is_dir():
            return False
        clean_tree(self.folder)
        return {path.name for path in self.folder.iterdir()} <= {_IDENTITY}

    def missing(self) -> list[range]:
        """Return the ranges of points that are not done."""
        return [part for part in self._all() if not self._path(part).exists()]

    def add(self, part: range, table: pyarrow.Table) -> None:
        """Store a part."""
        self._write(self._path(part).name, as_bytes([table], self.points.space, __version__))

    def whole(self) -> bytes:
        """Return the content of a file with all parts."""
        tables = [read(self._path(part)).table for part in self._all()]
        return as_bytes(tables, self.points.space, __version__)

    def finish(self, output: Path) -> None:
        """Write the results, and only then remove the parts."""
        with outside_transaction():
            write_bytes(output, self.whole())
        self.remove()

    def remove(self) -> None:
        """Remove the stored parts and the folder."""
        for part in self._all():
            self._path(part).unlink(missing_ok=True)
        (self.folder / _IDENTITY).unlink(missing_ok=True)
        self.folder.rmdir()

    def _all(self) -> Iterator[range]:
        return ranges(len(self.points), part_points(len(self.points)))

    def _path(self, part: range) -> Path:
        return self.folder / f"{part.start:012}.parquet"

    def _write(self, name: str, data: bytes) -> None:
        with outside_transaction():
            write_bytes(self.folder / name, data, parents=True)

    @property
    def _identity(self) -> str:
        """Hash of space, networks, constants, loads and version, which identifies the sweep."""
        trees = [
            datasheet.tree
            for setting in self.points.settings
            for datasheet in (
                setting.platform.chip,
                setting.platform.stack,
                *setting.loads.values(),
            )
        ]
        sources = [setting.digest for setting in self.points.settings]
        facts = [__version__, tree_of(self.points.space), trees, sources]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def part_points(points: int) -> int:
    """Return the number of points in a part."""
    return max(_SIZE, -(-points // _MOST))


def evaluate(points: Points, first: int, stop: int) -> pyarrow.Table:
    """Simulate the points from `first` to before `stop` as a table; a worker runs this."""
    inferences = points.space.workload.inferences
    return table_of([row(points[number], inferences) for number in range(first, stop)])


def planned(space: Space, output: Path) -> SweepParts:
    """Plan all settings, and open the folder of parts beside `output`.

    Errors as in `settings` and `SweepParts.open`, and for more points than an answer may have.
    """
    asked = space.count * len(columns_of(space))
    budget.require(budget.SWEPT, asked, f"a space of {space.count} points")
    listed = settings(space)
    points = Points(space.calibrated_with(listed[0].platform.anchor), listed)
    parts = SweepParts(output.with_name(f"{output.name}.parts"), points)
    parts.open()
    return parts


def simulate_parts(pool: Pool, parts: SweepParts) -> None:
    """Simulate all missing parts, and store each as soon as it is done.

    Raises HexsimError if workers die of a part.
    """
    points, missing = parts.points, parts.missing()
    done = len(points) - sum(map(len, missing))
    with counting(f"{len(points)} points; {pool.description}", len(points)) as count:
        count(done)
        for part, table in pool.in_parts(evaluate, points, missing, "points"):
            parts.add(part, table)
            done += len(part)
            count(done)
