"""Profiles of a phone as CSV: that of snpe_bench.py, and that of qnn-profile-viewer.

The benchmark_stats CSV of snpe_bench.py has four cells per flavour and layer. That of
qnn-profile-viewer, which ONNX Runtime writes too, has a line per event. The events called NODE are
the operators, repeated for every inference; the others are totals.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from hexsim.deployment.phone_profile.profile import (
    MeasuredLayer,
    MeasuredRun,
    PhoneProfile,
    layer_name,
    us_per_cycle,
)
from hexsim.errors import HexsimError
from hexsim.texts.csv_text import parse_csv

_TIMING = "_timing"
_UNKNOWN = "unknown"
"""What stands for name and type of a layer that the tool does not know."""
_RUNTIMES = {"cpu_fxp8": "fxp_cpu", "dsp_fp16": "htp_fp16", "dsp_act16": "dsp", "aip_act16": "aip"}
"""Runtimes of the benchmark that have another name here."""

Rows = Sequence[Sequence[str]]


def is_benchmark_csv(text: str) -> bool:
    """Return True if `text` begins like the file of snpe_bench.py."""
    return text.lstrip().lower().startswith("snpe sdk version")


def read_benchmark_csv(text: str, where: str) -> PhoneProfile:
    """Return the runs of all flavours; raise HexsimError, with `where`, for other texts."""
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
    except csv.Error as error:
        raise HexsimError(f"{where} is no CSV ({error})") from None
    line, flavours = _flavours(rows, where)
    cells = rows[line + 1 :]
    runs = [_run(flavour, column, cells, where) for column, flavour in flavours]
    settings = {row[0]: row[1] for row in rows[:line] if len(row) > 1}
    profile = settings.get("PerfProfile", "")
    return PhoneProfile(
        "snpe_bench CSV",
        tuple(run for run in runs if run.layers),
        "" if profile.lower() in ("", "none") else profile,
        inputs_have_ids=not settings.get("SNPE SDK version:", "").startswith("2."),
    )


def _flavours(rows: Rows, where: str) -> tuple[int, list[tuple[int, str]]]:
    """Return the line of the titles, and column and name of each flavour."""
    for line, row in enumerate(rows):
        titles = [(column, _flavour(cell)) for column, cell in enumerate(row)]
        flavours = [(column, flavour) for column, flavour in titles if flavour]
        if flavours:
            return line, flavours
    raise HexsimError(
        f"{where} has no columns of times, such as DSP_timing(2 runs); measure 'timing', not "
        "'mem' alone"
    )


def _flavour(cell: str) -> str:
    """Return the flavour in a title such as DSP_timing(2 runs), "" for any other cell."""
    flavour, timing, rest = cell.partition("(")[0].rstrip().rpartition(_TIMING)
    is_title = bool(timing) and not rest and cell.endswith(")")
    return flavour if is_title and flavour.replace("_", "a").isalnum() else ""


def _layer(name: str) -> tuple[int, str, str] | None:
    """Return number, name and type in `layer_3 (Name:conv1 Type:conv)`; None for other names."""
    head, _, rest = name.partition("(")
    number, inner = head.removeprefix("layer_").rstrip(), rest.removesuffix(")")
    if head == number or rest == inner or not (number.isdecimal() and len(number) < 10):
        return None
    layer_name, _, kind = inner.removeprefix("Name:").rpartition(" Type:")
    if inner == _UNKNOWN:
        return int(number), "", ""
    if not inner.startswith("Name:") or " Type:" not in inner or " " in kind:
        return None
    return int(number), layer_name, kind


def _run(flavour: str, column: int, rows: Rows, where: str) -> MeasuredRun:
    layers, totals = [], {}
    for row in rows:
        name = next(filter(None, row[:column]), "")
        mean, most, least = (_us(row, column + place, name, where) for place in range(3))
        if mean is None:
            continue
        if (layer := _layer(name)) is not None:
            number, layer_name, kind = layer
            layers.append(MeasuredLayer(layer_name, mean, number, kind, least, most))
        else:
            totals[name] = mean
    runtime, _, buffer = flavour.lower().partition("_ub_")
    return MeasuredRun(_RUNTIMES.get(runtime, runtime), tuple(layers), buffer, totals)


def _us(row: Sequence[str], column: int, name: str, where: str) -> float | None:
    text = row[column] if column < len(row) else ""
    if not text or not name:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        if not name.startswith("layer_"):
            return None  # the rows of units and of our own answers hold words
        raise HexsimError(f"{where}, row '{name}': '{text}' is no time in microseconds")
    return value


_COLUMNS = ("Message", "Time", "Unit of Measurement", "Event Identifier")
_US = {"US": 1.0, "MICROSEC": 1.0, "MS": 1e3, "NS": 1e-3}
_TOTAL_US = ("accelerator (execute) time", "qnn accelerator (execute) time", "rpc (execute) time")
"""Events of which cycles of operators are shares; the first that is there counts."""
_TOTAL_CYCLES = "accelerator (execute) time (cycles)"

Times = dict[str, list[float]]


def is_qnn_csv(text: str) -> bool:
    """Return True if the first line names the columns of qnn-profile-viewer."""
    header = text.lstrip().partition("\n")[0]
    return all(column in header for column in _COLUMNS)


def read_qnn_csv(text: str, where: str) -> PhoneProfile:
    """Return the mean of all inferences; raise HexsimError, with `where`, for mistakes."""
    us, cycles, totals = Times(), Times(), Times()
    for message, unit, identifier, time in _events(text, where):
        if message == "NODE":
            unit_times = cycles if unit == "CYCLES" else us
            unit_times.setdefault(identifier, []).append(time)
        elif unit in (*_US, "CYCLES"):
            totals.setdefault(identifier, []).append(time)
    means = {name: _mean(times) for name, times in totals.items()}
    by_lower = {name.lower(): mean for name, mean in means.items()}
    factor, remark = 1.0, ""
    if cycles and not us:
        total_us = next((by_lower[name] for name in _TOTAL_US if by_lower.get(name)), 0.0)
        all_cycles = [_mean(times) for times in cycles.values()]
        total_cycles = by_lower.get(_TOTAL_CYCLES, 0.0)
        factor, remark = us_per_cycle(all_cycles, total_us, where, total_cycles)
    layers = tuple(_layers(us or cycles, factor))
    in_us = {name: mean for name, mean in means.items() if "cycles" not in name.lower()}
    run = MeasuredRun("", layers, totals=in_us)
    return PhoneProfile("QNN profile CSV", (run,) if layers else (), remark=remark)


def _events(text: str, where: str) -> Iterator[tuple[str, str, str, float]]:
    """Yield message, unit, identifier and time in microseconds or cycles of every event."""

    def check(header: list[str]) -> None:
        missing = [column for column in _COLUMNS if column not in header]
        if missing:
            raise HexsimError(f"{where}, line 1: column '{missing[0]}' is missing")

    for line, row in parse_csv(text.lstrip(), where, check):
        unit = row["Unit of Measurement"].upper()
        try:
            time = float(row["Time"])
        except ValueError:
            time = -1.0
        if not 0 <= time < float("inf"):
            if row["Message"] != "NODE":
                continue
            raise HexsimError(f"{where}, line {line}: '{row['Time']}' is no time of an event")
        yield row["Message"], unit, row["Event Identifier"], time * _US.get(unit, 1.0)


def _layers(times: Mapping[str, list[float]], factor: float) -> Iterator[MeasuredLayer]:
    for identifier, values in times.items():
        low, high = min(values) * factor, max(values) * factor
        yield MeasuredLayer(
            layer_name(identifier), _mean(values) * factor, low_us=low, high_us=high
        )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
