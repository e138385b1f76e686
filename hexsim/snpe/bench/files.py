"""The results of snpe_bench.py as CSV and JSON, in SNPE's layout.

The CSV: software, configuration, device, then a table with a row per figure and four cells per
column (a flavour and what is measured): mean, largest, smallest, and what ran it. A cell that is
not known is a space. Behind the table, if inputs were given, a row of our own tells on how many of
them each flavour answers as the float network does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexsim.reports.csv_text import csv_text
from hexsim.reports.row_names import IN_CSV
from hexsim.snpe.diag_log import DiagRow

MISSING = " "
MEMORY = ("pss", "prv_dirty", "prv_clean")
_ROWS = (
    *("Load", "Deserialize", "Create", "Init", "De-Init", "Create Network(s)", "RPC Init Time"),
    *("Snpe Accelerator Init Time", "Accelerator Init Time", "Total Inference Time"),
    *("Forward Propagate Time", "RPC Execute Time", "Snpe Accelerator Time", "Accelerator Time"),
    "Misc Accelerator Time",
)
_ANSWERS = "Answers as in float"

Key = tuple[str, int | str]
"""A row: a figure by its name, a layer by its number, a conversion by its label."""


@dataclass(frozen=True)
class Answered:
    """On how many of `items` inputs a flavour answers as float does."""

    items: int
    same: int

    @property
    def verdict(self) -> str:
        """Right if all are."""
        return "right" if self.same == self.items else "wrong"


@dataclass(frozen=True)
class Column:
    """One flavour, measured: the rows of each run; none where memory is measured."""

    flavour: str
    measurement: str
    runs: tuple[tuple[DiagRow, ...], ...]
    answered: Answered | None = None


@dataclass(frozen=True)
class BenchmarkResults:
    """All results. `layers` has name and type of every layer, by its number."""

    version: str
    configuration: Sequence[tuple[str, str]]
    device: Sequence[tuple[str, str]]
    columns: Sequence[Column]
    layers: Sequence[tuple[str, str]]
    sleep_s: int = 0


@dataclass(frozen=True)
class Cell:
    """A figure over all runs, in whole microseconds, and what ran it."""

    mean: int
    most: int
    least: int
    runtime: str


def bench_csv(sheet: BenchmarkResults) -> str:
    """Return the results as CSV."""
    table = _ColumnCells(sheet)
    return csv_text(("SNPE SDK version:", sheet.version), _csv_rows(sheet, table))


def bench_json(sheet: BenchmarkResults) -> str:
    """Return the results as JSON."""
    table = _ColumnCells(sheet)
    document: dict[str, Any] = {"SNPE SDK version:": sheet.version}
    document |= dict((*sheet.device, *sheet.configuration))
    document["Execution_Data"] = {
        _column_name(column): _column_json(column, table, number)
        for number, column in enumerate(sheet.columns)
    }
    document["Units"] = "us"
    return json.dumps(document, indent=1) + "\n"


class _ColumnCells:
    """The cells of every column by row."""

    def __init__(self, sheet: BenchmarkResults) -> None:
        self._sheet = sheet
        self.columns = [
            _cells(column.runs) if column.measurement == "timing" else {}
            for column in sheet.columns
        ]
        found = {key for column in self.columns for key in column}
        keys: list[Key] = [("", name) for name in _ROWS if ("", name) in found]
        numbers = [number for kind, number in found if kind == "layer"]
        layers = range(1 + max(map(int, numbers), default=-1))
        keys += [("layer", number) for number in layers]
        keys += sorted(key for key in found if key[0] == "convert")
        self.keys = keys

    def cell(self, column: int, key: Key) -> Cell | None:
        """A cell; a layer without a figure of its own, as one fused into another, has none: 0."""
        found = self.columns[column].get(key)
        has_layers = ("layer", 0) in self.columns[column]
        if found is None and key[0] == "layer" and has_layers:
            return Cell(0, 0, 0, MISSING)
        return found

    def name(self, key: Key) -> str:
        """What a row is called."""
        kind, which = key
        if kind != "layer":
            return IN_CSV.get(str(which), str(which))
        number = int(which)
        if number >= len(self._sheet.layers):
            return f"layer_{number:03d} (unknown)"
        name, type_ = ("".join(text.split()) for text in self._sheet.layers[number])
        return f"layer_{number:03d} (Name:{name} Type:{type_})"


def _cells(runs: Sequence[Sequence[DiagRow]]) -> dict[Key, Cell]:
    """The figures of some runs, which have the same rows."""
    us: dict[Key, list[int]] = {}
    runtime: dict[Key, str] = {}
    for run in runs:
        for row in run:
            key = _key(row)
            us.setdefault(key, []).append(row.us)
            runtime[key] = row.runtime or "CPU"
    return {key: Cell(_mean(all_), max(all_), min(all_), runtime[key]) for key, all_ in us.items()}


def _mean(numbers: Sequence[int]) -> int:
    """The nearest whole number, of two the larger."""
    return (2 * sum(numbers) + len(numbers)) // (2 * len(numbers))


def _key(row: DiagRow) -> Key:
    if row.block == "layer":
        return "layer", int(row.id or 0)
    if row.block == "convert":
        return "convert", f"Convert Time:{row.type} (Name:{row.name})"
    return "", row.name


def _csv_rows(sheet: BenchmarkResults, table: _ColumnCells) -> Iterator[Sequence[Any]]:
    yield ()
    yield ("Configuration used:",)
    yield from sheet.configuration
    yield ()
    yield ("Device Info:",)
    yield from sheet.device
    yield ()
    yield "", "", MISSING, *_joined((_title(sheet, c), "", "", "") for c in sheet.columns)
    yield "", "", MISSING, *_joined(_units(column) for column in sheet.columns)
    numbers = range(len(sheet.columns))
    for key in table.keys:
        cells = (_shown(table.cell(number, key)) for number in numbers)
        yield "", "", table.name(key), *_joined(cells)
    if any(column.measurement == "mem" for column in sheet.columns):
        for name in MEMORY:
            yield "", "", name, *_joined((MISSING,) * 4 for _ in numbers)
    if any(column.answered for column in sheet.columns):
        yield ()
        yield "", "", _ANSWERS, *_joined(_verdict(column.answered) for column in sheet.columns)


def _joined(cells: Iterable[Sequence[Any]]) -> list[Any]:
    return [cell for group in cells for cell in group]


def _title(sheet: BenchmarkResults, column: Column) -> str:
    count = len(column.runs)
    asleep = f", {sheet.sleep_s}s sleep" if sheet.sleep_s else ""
    return f"{column.flavour}_{column.measurement}({count} runs{asleep})"


def _units(column: Column) -> tuple[str, ...]:
    unit = "us" if column.measurement == "timing" else "kB"
    return (*(f"{name} ({unit})" for name in ("avg", "max", "min")), "runtime")


def _shown(cell: Cell | None) -> tuple[Any, ...]:
    if cell is None:
        return (MISSING,) * 4
    return cell.mean, cell.most, cell.least, cell.runtime


def _verdict(found: Answered | None) -> tuple[str, ...]:
    if found is None:
        return (MISSING,) * 4
    return found.verdict, f"{found.same} of {found.items}", "", ""


def _column_name(column: Column) -> str:
    return column.flavour if column.measurement == "timing" else f"{column.flavour}_mem"


def _column_json(column: Column, table: _ColumnCells, number: int) -> Mapping[str, Any]:
    if column.measurement == "mem":
        sizes = dict.fromkeys(("Avg_Size", "Max_Size", "Min_Size"))
        return {**{name: dict(sizes) for name in MEMORY}, "Units": "kB"}
    found: dict[str, Any] = {}
    for key in table.keys:
        cell = table.cell(number, key)
        if cell is not None:
            found[table.name(key)] = {
                "Runtime": cell.runtime,
                "Avg_Time": cell.mean,
                "Max_Time": cell.most,
                "Min_Time": cell.least,
            }
    if column.answered:
        answered = column.answered
        found[_ANSWERS] = {
            "Verdict": answered.verdict,
            "Same": answered.same,
            "Inputs": answered.items,
        }
    return found
