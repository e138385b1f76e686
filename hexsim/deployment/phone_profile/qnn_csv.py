"""Reads the CSV of qnn-profile-viewer, which ONNX Runtime writes too: a line per event.

The events called NODE are the operators, repeated for every inference; the others are totals.
"""

from collections.abc import Iterator, Mapping

from hexsim.deployment.phone_profile.profile import (
    MeasuredLayer,
    MeasuredRun,
    PhoneProfile,
    cycles_remark,
    layer_name,
    us_per_cycle,
)
from hexsim.errors import InvalidDataError
from hexsim.texts.csv_text import parse_csv

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
    """Return the mean of all inferences; raise InvalidDataError, with `where`, for mistakes."""
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
        factor = us_per_cycle(all_cycles, total_us, by_lower.get(_TOTAL_CYCLES, 0.0), where)
        remark = cycles_remark(factor)
    layers = tuple(_layers(us or cycles, factor))
    in_us = {name: mean for name, mean in means.items() if "cycles" not in name.lower()}
    run = MeasuredRun("", layers, totals=in_us)
    return PhoneProfile("QNN profile CSV", (run,) if layers else (), remark=remark)


def _events(text: str, where: str) -> Iterator[tuple[str, str, str, float]]:
    """Yield message, unit, identifier and time in microseconds or cycles of every event."""

    def check(header: list[str]) -> None:
        missing = [column for column in _COLUMNS if column not in header]
        if missing:
            raise InvalidDataError(f"{where}, line 1: column '{missing[0]}' is missing")

    for line, row in parse_csv(text.lstrip(), where, check):
        unit = row["Unit of Measurement"].upper()
        try:
            time = float(row["Time"])
        except ValueError:
            time = -1.0
        if not 0 <= time < float("inf"):
            if row["Message"] != "NODE":
                continue
            raise InvalidDataError(f"{where}, line {line}: '{row['Time']}' is no time of an event")
        yield row["Message"], unit, row["Event Identifier"], time * _US.get(unit, 1.0)


def _layers(times: Mapping[str, list[float]], factor: float) -> Iterator[MeasuredLayer]:
    for identifier, values in times.items():
        low, high = min(values) * factor, max(values) * factor
        yield MeasuredLayer(
            layer_name(identifier), _mean(values) * factor, low_us=low, high_us=high
        )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
