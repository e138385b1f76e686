"""Reads the benchmark_stats CSV that snpe_bench.py writes: four cells per flavour and layer."""

import csv
import io
from collections.abc import Sequence

from hexsim.deployment.phone_profile.profile import MeasuredLayer, MeasuredRun, PhoneProfile
from hexsim.errors import InvalidDataError

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
    """Return the runs of all flavours; raise InvalidDataError, with `where`, for other texts."""
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
    except csv.Error as error:
        raise InvalidDataError(f"{where} is no CSV ({error})") from None
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
    raise InvalidDataError(
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
        raise InvalidDataError(f"{where}, row '{name}': '{text}' is no time in microseconds")
    return value
