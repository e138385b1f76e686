"""The results of snpe_bench.py as CSV and JSON, in SNPE's layout.

The CSV has software, configuration, device, then a table with a row per figure and four cells per
column (a flavour and a measurement): mean, largest, smallest, and runtime. An unknown cell is
a space. If inputs were given, a row of our own after the table shows on how many of them each
flavour gives the same answer as the float network. If their right classes were given too, another
row shows how many answers are right, on the flavour and in float.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hexsim import __version__
from hexsim.records import dataclass
from hexsim.snpe.bench.config import BenchSettings, Config
from hexsim.snpe.bench.values import AgreeingAnswers
from hexsim.snpe.diag_log import DiagRow
from hexsim.studies.row_names import IN_CSV
from hexsim.texts.csv_text import csv_text

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.graph.ir import Network


MISSING = " "
MEMORY = ("pss", "prv_dirty", "prv_clean")
_ROWS = (
    *("Load", "Deserialize", "Create", "Init", "De-Init", "Create Network(s)", "RPC Init Time"),
    *("Snpe Accelerator Init Time", "Accelerator Init Time", "Total Inference Time"),
    *("Forward Propagate Time", "RPC Execute Time", "Snpe Accelerator Time", "Accelerator Time"),
    "Misc Accelerator Time",
)
_ANSWERS = "Answers as in float"
_RIGHT = "Right answers"

Key = tuple[str, int | str]
"""The key of a row: the name of a figure, the number of a layer, or the label of a conversion."""


@dataclass(frozen=True)
class Column:
    """A measurement of a flavour: the rows of each run, or the peak memory of all runs in kB."""

    flavour: str
    measurement: str
    runs: tuple[tuple[DiagRow, ...], ...]
    answers: AgreeingAnswers | None = None
    peak_kb: int | None = None


@dataclass(frozen=True)
class BenchmarkResults:
    """All results; `layers` has name and type of every layer, by its number.

    With `made_up` weights, as built-in networks have them, answers judge no runtime.
    """

    version: str
    configuration: Sequence[tuple[str, str]]
    device: Sequence[tuple[str, str]]
    columns: Sequence[Column]
    layers: Sequence[tuple[str, str]]
    sleep_s: int = 0
    made_up: bool = False


@dataclass(frozen=True)
class Cell:
    """A figure over all runs, in whole microseconds, and the runtime it belongs to."""

    mean: int
    most: int
    least: int
    runtime: str


def bench_csv(results: BenchmarkResults) -> str:
    """Return the results as CSV."""
    table = _ColumnCells(results)
    return csv_text(("SNPE SDK version:", results.version), _csv_rows(results, table))


def bench_json(results: BenchmarkResults) -> str:
    """Return the results as JSON."""
    table = _ColumnCells(results)
    document: dict[str, Any] = {"SNPE SDK version:": results.version}
    document |= dict((*results.device, *results.configuration))
    document["Execution_Data"] = {
        _column_name(column): _column_json(column, table, number)
        for number, column in enumerate(results.columns)
    }
    document["Units"] = "us"
    return json.dumps(document, indent=1) + "\n"


class _ColumnCells:
    """The cells of every column by row."""

    def __init__(self, results: BenchmarkResults) -> None:
        self._results = results
        self.columns = [
            _cells(column.runs) if column.measurement == "timing" else {}
            for column in results.columns
        ]
        used = {key for column in self.columns for key in column}
        keys: list[Key] = [("", name) for name in _ROWS if ("", name) in used]
        numbers = [number for kind, number in used if kind == "layer"]
        layers = range(1 + max(map(int, numbers), default=-1))
        keys += [("layer", number) for number in layers]
        keys += sorted(key for key in used if key[0] == "convert")
        self.keys = keys

    def cell(self, column: int, key: Key) -> Cell | None:
        """Return a cell; a layer without its own figure, as if fused into another, has zeros."""
        cell = self.columns[column].get(key)
        has_layers = ("layer", 0) in self.columns[column]
        if cell is None and key[0] == "layer" and has_layers:
            return Cell(0, 0, 0, MISSING)
        return cell

    def name(self, key: Key) -> str:
        """Return the title of a row."""
        kind, label = key
        if kind != "layer":
            return IN_CSV.get(str(label), str(label))
        number = int(label)
        if number >= len(self._results.layers):
            return f"layer_{number:03d} (unknown)"
        name, type_ = ("".join(text.split()) for text in self._results.layers[number])
        return f"layer_{number:03d} (Name:{name} Type:{type_})"


def _cells(runs: Sequence[Sequence[DiagRow]]) -> dict[Key, Cell]:
    """Return the figures over some runs, which have the same rows."""
    us: dict[Key, list[int]] = {}
    runtime: dict[Key, str] = {}
    for run in runs:
        for row in run:
            key = _key(row)
            us.setdefault(key, []).append(row.us)
            runtime[key] = row.runtime or "CPU"
    return {
        key: Cell(_mean(times), max(times), min(times), runtime[key]) for key, times in us.items()
    }


def _mean(numbers: Sequence[int]) -> int:
    """Return the nearest whole number to the mean; a tie takes the larger one."""
    return (2 * sum(numbers) + len(numbers)) // (2 * len(numbers))


def _key(row: DiagRow) -> Key:
    if row.block == "layer":
        return "layer", int(row.id or 0)
    if row.block == "convert":
        return "convert", f"Convert Time:{row.type} (Name:{row.name})"
    return "", row.name


def _csv_rows(results: BenchmarkResults, table: _ColumnCells) -> Iterator[Sequence[Any]]:
    yield ()
    yield ("Configuration used:",)
    yield from results.configuration
    yield ()
    yield ("Device Info:",)
    yield from results.device
    yield ()
    yield "", "", MISSING, *_joined((_title(results, c), "", "", "") for c in results.columns)
    yield "", "", MISSING, *_joined(_units(column) for column in results.columns)
    numbers = range(len(results.columns))
    for key in table.keys:
        cells = (_cell_columns(table.cell(number, key)) for number in numbers)
        yield "", "", table.name(key), *_joined(cells)
    if any(column.measurement == "mem" for column in results.columns):
        for name in MEMORY:
            cells = (_sizes(column, name) for column in results.columns)
            yield "", "", name, *_joined([size or MISSING for size in each] for each in cells)
    answers = [column.answers for column in results.columns]
    if any(answers):
        yield ()
        title = f"{_ANSWERS} (weights are made up)" if results.made_up else _ANSWERS
        yield "", "", title, *_joined(map(_verdict, answers))
    if any(each and each.right is not None for each in answers):
        yield "", "", _RIGHT, *_joined(map(_judged, answers))


def _sizes(column: Column, name: str) -> tuple[int | None, ...]:
    """Return mean, largest and smallest size in kB, which are alike, and no runtime.

    What an inference allocates is private memory that it writes. Memory that it shares with others
    or only reads, such as the code of libraries, is not simulated.
    """
    return (*((None if name == "prv_clean" else column.peak_kb,) * 3), None)


def _joined(cells: Iterable[Sequence[Any]]) -> list[Any]:
    return [cell for group in cells for cell in group]


def _title(results: BenchmarkResults, column: Column) -> str:
    count = len(column.runs)
    sleep = f", {results.sleep_s}s sleep" if results.sleep_s else ""
    return f"{column.flavour}_{column.measurement}({count} runs{sleep})"


def _units(column: Column) -> tuple[str, ...]:
    unit = "us" if column.measurement == "timing" else "kB"
    return (*(f"{name} ({unit})" for name in ("avg", "max", "min")), "runtime")


def _cell_columns(cell: Cell | None) -> tuple[Any, ...]:
    if cell is None:
        return (MISSING,) * 4
    return cell.mean, cell.most, cell.least, cell.runtime


def _verdict(answers: AgreeingAnswers | None) -> tuple[str, ...]:
    if answers is None:
        return (MISSING,) * 4
    return answers.verdict, f"{answers.same} of {answers.items}", "", ""


def _judged(answers: AgreeingAnswers | None) -> tuple[str, ...]:
    if answers is None:
        return (MISSING,) * 4
    verdict = "right" if answers.right == answers.items else "wrong"
    counts = (f"{count} of {answers.items}" for count in (answers.right, answers.float_right))
    return verdict, *counts, "in float"


def _column_name(column: Column) -> str:
    return column.flavour if column.measurement == "timing" else f"{column.flavour}_mem"


def _column_json(column: Column, table: _ColumnCells, number: int) -> Mapping[str, Any]:
    if column.measurement == "mem":
        names = ("Avg_Size", "Max_Size", "Min_Size")
        sizes = {name: dict(zip(names, _sizes(column, name), strict=False)) for name in MEMORY}
        return {**sizes, "Units": "kB"}
    document: dict[str, Any] = {}
    for key in table.keys:
        cell = table.cell(number, key)
        if cell is not None:
            document[table.name(key)] = {
                "Runtime": cell.runtime,
                "Avg_Time": cell.mean,
                "Max_Time": cell.most,
                "Min_Time": cell.least,
            }
    if column.answers:
        document[_ANSWERS] = {
            "Verdict": column.answers.verdict,
            "Same": column.answers.same,
            "Inputs": column.answers.items,
        }
        if column.answers.right is not None:
            document[_RIGHT] = {
                "Right": column.answers.right,
                "In float": column.answers.float_right,
                "Inputs": column.answers.items,
            }
    return document


_UNKNOWN = " "


def configuration(
    config: Config, settings: BenchSettings, network: Network, flavours: Sequence[str], date: str
) -> list[tuple[str, str]]:
    """Return the rows about the config."""
    shapes = (f"{n}:{','.join(map(str, network.shape(n)))}" for n in network.inputs)
    return [
        ("Name", config.name),
        ("HostRootPath", config.host_root),
        ("HostResultsDir", str(config.results)),
        ("DevicePath", config.device_path),
        ("Devices", config.device),
        ("HostName", config.host_name),
        ("Runs", str(config.runs)),
        ("Model:Name", config.model_name),
        ("Model:Dlc", str(config.dlc)),
        ("Model:UDO", ""),
        ("Model:InputList", str(config.input_list or "")),
        ("Model:Data", ",".join(map(str, config.data))),
        ("Model:InputDimensions", " ".join(shapes)),
        ("Runtimes", ",".join(flavours)),
        ("Architectures", _UNKNOWN),
        ("Compiler", _UNKNOWN),
        ("C++ Standard Library", _UNKNOWN),
        ("Measurements", ",".join(config.measurements)),
        ("PerfProfile", settings.perf_profile),
        ("ProfilingLevel", settings.profiling_level),
        ("Date", date),
    ]


def device(platform: Platform) -> list[tuple[str, str]]:
    """Return the rows about the device, which is a simulated chip with its software."""
    chip = platform.chip
    known = {
        "ro.product.name": chip.name,
        "ro.product.model": f"{chip.title}, simulated by hexsim v{__version__}",
        "ro.product.board": chip.asic or _UNKNOWN,
    }
    properties = (
        *("name", "serialno", "model", "board", "brand", "device", "manufacturer", "cpu.abi"),
    )
    rows = [f"ro.product.{name}" for name in properties]
    rows += [f"ro.build.{name}" for name in ("au_rev", "description", "version.sdk")]
    rows += ["Meta_Build_ID", "OS_Type"]
    return [(row, known.get(row, _UNKNOWN)) for row in rows]


def version(platform: Platform) -> str:
    """Return the release as the tools print it, without the prefix of SNPE's own releases."""
    return platform.stack.name.removeprefix("snpe-")
