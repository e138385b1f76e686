"""Read rows that a user measured: latencies in the format of measured_latency.csv, and layers.

Times of layers have the format of layer_latency.csv.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hexsim import budget
from hexsim.datasheets.measurements import MeasuredLayer, Measurement
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import is_builtin
from hexsim.errors import HexsimError, InvalidDataError, nearest, spelled, unknown
from hexsim.quantization.model import Model
from hexsim.runtimes import RUNTIMES
from hexsim.studies.calibration.prediction import deployed
from hexsim.texts.csv_text import parse_csv
from hexsim.texts.text import read_text, shortened, visible
from hexsim.texts.trees import is_quantity

COLUMNS = tuple(
    "idle_ms_before_call" if name == "idle_ms" else name
    for name in Measurement.__dataclass_fields__
)
_UNKNOWN = "unknown"
_MOST = 1024
"""Characters of a value: more than the path of a model has."""
_REQUIRED = (("runtime",), ("latency_ms",), ("model", "network"))

Record = dict[str, str]


class Names(NamedTuple):
    """The names that a row may use for its chip and its stack."""

    chip: frozenset[str]
    stack: frozenset[str]


def read_rows(
    source: Path, platform: Platform, names: Names, load: Callable[[str], Model]
) -> list[Measurement]:
    """Read the rows of one platform.

    `load` loads a model. Raises HexsimError that names file, line and the first mistake.
    """
    rows = []
    for line, record in records(source, "row", COLUMNS, _REQUIRED, "model"):
        try:
            rows.append(_Row(record, source.parent, platform, load).measurement(names))
        except HexsimError as error:
            raise HexsimError(f"{source}, line {line}: {error}") from None
    if not rows:
        raise HexsimError(f"{source}: no rows below the header; give at least one measured row")
    return rows


def records(
    source: Path,
    what: str,
    columns: Iterable[str],
    required: Iterable[tuple[str, ...]],
    as_written: str,
) -> Iterator[tuple[int, Record]]:
    """Yield line number and fields of each row of a file of measured rows or layers (`what`).

    Values are made visible but in the column `as_written`, which names files. Raises HexsimError
    for a header with a column that is not in `columns` or is there twice, or without one of each
    of the `required` names.
    """
    where = f"{source}, line 1"

    def check(header: list[str]) -> None:
        for name in header:
            if name not in columns:
                raise HexsimError(
                    f"{where}: column '{shortened(name)}' is not known; {nearest(name, columns)}"
                )
            if header.count(name) > 1:
                raise HexsimError(f"{where}: column '{name}' is there twice; leave one out")
        for names in required:
            if not set(names) & set(header):
                either = " or ".join(f"'{name}'" for name in names)
                raise HexsimError(f"{where}: there is no column {either}, which every {what} needs")

    try:
        text = read_text(source, f"measured {what}s", "save them as CSV", by_line=True)
        for number, (line, row) in enumerate(parse_csv(text, str(source), check), start=1):
            budget.require(budget.MEASURED, number, f"{source}, line {line},")
            yield line, {key: row[key] if key == as_written else visible(row[key]) for key in row}
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None


class _Row:
    """One record; reading a field raises HexsimError if its value is wrong."""

    def __init__(
        self, record: Record, folder: Path, platform: Platform, load: Callable[[str], Model]
    ) -> None:
        self._record = record
        self._folder = folder
        self._platform = platform
        self._load = load

    def measurement(self, names: Names) -> Measurement:
        """Check and return the row."""
        platform, record = self._platform, self._record
        self._same("chip", names.chip)
        self._same("stack", names.stack)
        runtime = self._runtime()
        model = self._model()
        latency_ms = self._positive("latency_ms")
        profile = self._known("perf_profile", platform.stack.profile)
        buffer = self._known("buffer", platform.stack.buffer)
        shape = self._shape(model)
        return Measurement(
            chip=platform.chip.name,
            runtime=runtime,
            stack=platform.stack.name,
            network=record.get("network") or visible(Path(model).stem),
            network_variant=record.get("network_variant", ""),
            model=model,
            input_nhwc=shape,
            batch=shape[0],
            idle_ms=self._idle_ms(),
            perf_profile=profile,
            buffer=buffer,
            statistic=self._text("statistic") if "statistic" in record else "total_inference",
            latency_ms=latency_ms,
            resolution_ms=(
                self._positive("resolution_ms")
                if "resolution_ms" in record
                else _last_digit(record["latency_ms"])
            ),
            note=record.get("note", ""),
            source=record.get("source", ""),
        )

    def _text(self, column: str) -> str:
        if not self._record.get(column):
            raise HexsimError(f"there is no value in column '{column}'; every row needs one")
        text = self._record[column]
        if len(text) > _MOST:
            raise HexsimError(f"{column} '{shortened(text)}' has {len(text)} characters, too many")
        return text

    def _same(self, column: str, names: frozenset[str]) -> None:
        value = self._record.get(column)
        if value and value not in names:
            known = " or ".join(sorted(names))
            raise HexsimError(
                f"{column} '{value}' is not the one that is calibrated ({known}); give it with "
                f"{spelled(column)}, or leave the row out"
            )

    def _runtime(self) -> str:
        runtime = self._text("runtime")
        if runtime not in (*RUNTIMES, "hta"):
            raise unknown("runtime", runtime, (*RUNTIMES, "hta"))
        required = "aip" if runtime == "hta" else runtime
        self._platform.stack.require(self._platform.chip.require(required))
        return runtime

    def _model(self) -> str:
        column = "model" if "model" in self._record else "network"
        name = self._text(column)
        file = self._folder / name
        is_file = os.path.isfile(file)  # Path.is_file raises for a name that is too long
        if not is_file and not is_builtin(name):
            self._load(str(file) if Path(name).suffix else name)  # raises what is wrong with it
        return str(file) if is_file else name

    def _number(self, column: str) -> float:
        text = self._text(column)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value) or not is_quantity(value):
            known = "a number" if math.isnan(value) else "of a size that a quantity may have"
            raise HexsimError(f"{column} '{text}' is not {known}")
        return value

    def _positive(self, column: str) -> float:
        value = self._number(column)
        if value <= 0:
            raise HexsimError(f"{column} {value:g} is not more than zero")
        return value

    def _idle_ms(self) -> float | None:
        column = "idle_ms_before_call"
        if self._record.get(column, _UNKNOWN) in ("", _UNKNOWN):
            return None
        value = self._number(column)
        if value < 0:
            raise HexsimError(f"{column} {value:g} is less than zero")
        return value

    def _known(self, column: str, find: Callable[[str], object]) -> str | None:
        value = self._record.get(column, "")
        if value in ("", _UNKNOWN):
            return None
        find(value)
        return value

    def _shape(self, model: str) -> tuple[int, ...]:
        """Return the network's input shape, which the row may repeat but not change."""
        network = self._load(model).network
        shapes = [network.tensors[name].shape for name in network.inputs]
        for column, sizes in (("input_nhwc", math.prod), ("batch", lambda shape: shape[0])):
            if text := self._record.get(column):
                try:
                    sizes_given = [int(size) for size in text.split("x")]
                except ValueError:
                    raise HexsimError(f"{column} '{text}' is not of the form 1x224x224x3") from None
                if math.prod(sizes_given) not in map(sizes, shapes):
                    expected = " or ".join("x".join(map(str, shape)) for shape in shapes)
                    raise HexsimError(
                        f"{column} is {text}, and the input of '{model}' is {expected}"
                    )
        return shapes[0]


def _last_digit(text: str) -> float:
    digits = text.strip().lower().partition("e")[0]
    return float(10.0 ** -len(digits.partition(".")[2]))


_TIMES = {"dsp_us": "dsp", "cpu_us": "cpu", "gpu_us": "gpu"}
_SPREAD = ("dsp_min_us", "dsp_max_us")
_OTHERS = ("index", "type", "output_nchw", "dsp_tf8_buffers_us", "source")
_LAYER_REQUIRED = (("network",), ("layer",), tuple(_TIMES))
LAYER_COLUMNS = ("network", "layer", "chip", "stack", "profile", *_TIMES, *_SPREAD, *_OTHERS)
_INPUT = "data"
_ROUNDING_US = 0.5
_ENDINGS = ("", ".onnx", ".dlc")


def read_layers(
    source: Path, platform: Platform, names: Names, load: Callable[[str], Model]
) -> list[MeasuredLayer]:
    """Read the layers of one platform.

    Raises HexsimError that names file, line and the first mistake.
    """
    reader = _Reader(source.parent, platform, names, load)
    rows: list[MeasuredLayer] = []
    for line, record in records(source, "layer", LAYER_COLUMNS, _LAYER_REQUIRED, "network"):
        try:
            rows.extend(reader.layers(record))
        except HexsimError as error:
            raise HexsimError(f"{source}, line {line}: {error}") from None
    if not rows:
        raise HexsimError(f"{source}: no layers below the header; give at least one measured layer")
    return rows


class _Reader:
    """Makes rows of records; the layers of a network are planned once for each runtime."""

    def __init__(
        self, folder: Path, platform: Platform, names: Names, load: Callable[[str], Model]
    ) -> None:
        self._folder = folder
        self._platform = platform
        self._names = names
        self._load = load
        self._classes: dict[tuple[str, str], dict[str, str]] = {}

    def layers(self, record: Record) -> Iterator[MeasuredLayer]:
        """Yield a row for each runtime that the record has a time of."""
        for column, names in zip(("chip", "stack"), self._names, strict=True):
            if record.get(column) and record[column] not in names:
                raise HexsimError(
                    f"{column} '{record[column]}' is not the one that is calibrated "
                    f"({' or '.join(sorted(names))}); leave the layer out"
                )
        profile = record.get("profile") or None
        if profile:
            self._platform.stack.profile(profile)
        model = self._model(record["network"])
        if record.get("type") == _INPUT:
            return
        for column, runtime in _TIMES.items():
            if record.get(column):
                us = _number(record, column)
                if us > 0:
                    yield self._row(record, model, runtime, us, profile)

    def _row(
        self, record: Record, model: str, runtime: str, us: float, profile: str | None
    ) -> MeasuredLayer:
        classes, layer = self._classes_of(model, runtime), record["layer"]
        if layer not in classes:
            raise unknown("layer", layer, classes)
        network = self._load(model).network
        shape = network.tensors[network.inputs[0]].shape
        return MeasuredLayer(
            chip=self._platform.chip.name,
            runtime=runtime,
            stack=self._platform.stack.name,
            network=visible(record["network"]),
            network_variant="",
            model=model,
            input_nhwc=shape,
            batch=shape[0],
            idle_ms=None,
            perf_profile=profile,
            buffer=None,
            statistic="layer",
            latency_ms=us / 1e3,
            resolution_ms=_resolution_us(record, runtime) / 1e3,
            note="",
            source=record.get("source", ""),
            layer=layer,
            layer_class=classes[layer],
        )

    def _classes_of(self, model: str, runtime: str) -> dict[str, str]:
        key = model, runtime
        if key not in self._classes:
            self._platform.stack.require(self._platform.chip.require(runtime))
            plan = deployed(self._load(model), self._platform, runtime).plan
            calls = (call for subnet in plan.subnets for call in subnet.calls)
            self._classes[key] = {call.layer.name: call.layer_class for call in calls}
        return self._classes[key]

    def _model(self, name: str) -> str:
        if not name:
            raise HexsimError("there is no value in column 'network'; every layer needs one")
        for ending in _ENDINGS:
            file = self._folder / f"{name}{ending}"
            if file.is_file():
                return str(file)
        if not is_builtin(name):
            self._load(name)  # raises what is wrong with it
        return name


def _resolution_us(record: Record, runtime: str) -> float:
    """Return half of what repetitions differ by, and at least the rounding."""
    if runtime != "dsp" or not all(record.get(name) for name in _SPREAD):
        return _ROUNDING_US
    low, high = (_number(record, name) for name in _SPREAD)
    return max(_ROUNDING_US, (high - low) / 2)


def _number(record: Record, column: str) -> float:
    try:
        value = float(record[column])
    except ValueError:
        value = math.nan
    if not is_quantity(value) or value < 0:
        raise HexsimError(f"{column} '{shortened(record[column])}' is not a time in microseconds")
    return value
