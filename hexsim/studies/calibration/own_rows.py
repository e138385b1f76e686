"""Read rows that a user measured: latencies in the format of measured_latency.csv, and layers.

Times of layers have the format of layer_latency.csv.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from hexsim import budget
from hexsim.datasheets.measurements import MeasuredLayer, Measurement
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import is_builtin
from hexsim.errors import HexsimError, nearest, spelled, unknown
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
_TIMES = {"dsp_us": "dsp", "cpu_us": "cpu", "gpu_us": "gpu"}
_SPREAD = ("dsp_min_us", "dsp_max_us")
_OTHERS = ("index", "type", "output_nchw", "dsp_tf8_buffers_us", "source")
_LAYER_REQUIRED = (("network",), ("layer",), tuple(_TIMES))
LAYER_COLUMNS = ("network", "layer", "chip", "stack", "profile", *_TIMES, *_SPREAD, *_OTHERS)
_INPUT = "data"
_ROUNDING_US = 0.5
_ENDINGS = ("", ".onnx", ".dlc")

Record = dict[str, str]
Row = TypeVar("Row", bound=Measurement)


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
    reader = _Reader(source.parent, platform, names, load)
    read = records(source, "row", COLUMNS, _REQUIRED, "model")
    return _made(source, "row", read, lambda record: [reader.row(record)])


def read_layers(
    source: Path, platform: Platform, names: Names, load: Callable[[str], Model]
) -> list[MeasuredLayer]:
    """Read the layers of one platform; arguments and errors as in `read_rows`."""
    reader = _Reader(source.parent, platform, names, load)
    read = records(source, "layer", LAYER_COLUMNS, _LAYER_REQUIRED, "network")
    return _made(source, "layer", read, reader.layers)


def _made(
    source: Path,
    what: str,
    numbered: Iterable[tuple[int, Record]],
    made: Callable[[Record], Iterable[Row]],
) -> list[Row]:
    rows: list[Row] = []
    for line, record in numbered:
        try:
            rows.extend(made(record))
        except HexsimError as error:
            raise HexsimError(f"{source}, line {line}: {error}") from None
    if not rows:
        raise HexsimError(
            f"{source}: no {what}s below the header; give at least one measured {what}"
        )
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

    text = read_text(source, f"measured {what}s", "save them as CSV", by_line=True)
    for number, (line, row) in enumerate(parse_csv(text, str(source), check), start=1):
        budget.require(budget.MEASURED, number, f"{source}, line {line},")
        yield line, {key: row[key] if key == as_written else visible(row[key]) for key in row}


class _Reader:
    """Makes rows of records; the layers of a network are planned once for each runtime.

    A field whose value is wrong raises HexsimError.
    """

    def __init__(
        self, folder: Path, platform: Platform, names: Names, load: Callable[[str], Model]
    ) -> None:
        self._folder = folder
        self._platform = platform
        self._names = names
        self._load = load
        self._classes: dict[tuple[str, str], dict[str, str]] = {}

    def row(self, record: Record) -> Measurement:
        platform = self._platform
        self._require_same(record, "row")
        runtime = _text(record, "runtime")
        if runtime not in (*RUNTIMES, "hta"):
            raise unknown("runtime", runtime, (*RUNTIMES, "hta"))
        platform.stack.require(platform.chip.require("aip" if runtime == "hta" else runtime))
        model = self._model(_text(record, "model" if "model" in record else "network"))
        latency_ms = _positive(record, "latency_ms")
        profile = _known(record, "perf_profile", platform.stack.profile)
        buffer = _known(record, "buffer", platform.stack.buffer)
        shape = self._shape(record, model)
        digits = record["latency_ms"].strip().lower().partition("e")[0]
        return Measurement(
            chip=platform.chip.name,
            runtime=runtime,
            stack=platform.stack.name,
            network=record.get("network") or visible(Path(model).stem),
            network_variant=record.get("network_variant", ""),
            model=model,
            input_nhwc=shape,
            batch=shape[0],
            idle_ms=_idle_ms(record),
            perf_profile=profile,
            buffer=buffer,
            statistic=_text(record, "statistic") if "statistic" in record else "total_inference",
            latency_ms=latency_ms,
            resolution_ms=_positive(record, "resolution_ms")
            if "resolution_ms" in record
            else float(10.0 ** -len(digits.partition(".")[2])),
            note=record.get("note", ""),
            source=record.get("source", ""),
        )

    def layers(self, record: Record) -> Iterator[MeasuredLayer]:
        """Yield a row for each runtime that the record has a time of."""
        self._require_same(record, "layer")
        profile = record.get("profile") or None
        if profile:
            self._platform.stack.profile(profile)
        if not record["network"]:
            raise HexsimError("there is no value in column 'network'; every layer needs one")
        model = self._model(record["network"], _ENDINGS)
        if record.get("type") == _INPUT:
            return
        for column, runtime in _TIMES.items():
            if record.get(column) and (us := _time_us(record, column)) > 0:
                yield self._layer(record, model, runtime, us, profile)

    def _layer(
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
            calls = deployed(self._load(model), self._platform, runtime).plan.calls()
            self._classes[key] = {call.layer.name: call.layer_class for call in calls}
        return self._classes[key]

    def _require_same(self, record: Record, what: str) -> None:
        for column, names in zip(("chip", "stack"), self._names, strict=True):
            value = record.get(column)
            if value and value not in names:
                give = f"give it with {spelled(column)}, or " if what == "row" else ""
                raise HexsimError(
                    f"{column} '{value}' is not the one that is calibrated "
                    f"({' or '.join(sorted(names))}); {give}leave the {what} out"
                )

    def _model(self, name: str, endings: tuple[str, ...] = ("",)) -> str:
        """Return the file of a model beside the rows, with one of the `endings`, or its name."""
        for ending in endings:
            file = self._folder / f"{name}{ending}"
            if os.path.isfile(file):  # Path.is_file raises for a name that is too long
                return str(file)
        if not is_builtin(name):  # loading raises what is wrong with it
            is_path = Path(name).suffix and endings == ("",)
            self._load(str(self._folder / name) if is_path else name)
        return name

    def _shape(self, record: Record, model: str) -> tuple[int, ...]:
        """Return the network's input shape, which the row may repeat but not change."""
        network = self._load(model).network
        shapes = [network.tensors[name].shape for name in network.inputs]
        for column, sizes in (("input_nhwc", math.prod), ("batch", lambda shape: shape[0])):
            if text := record.get(column):
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


def _text(record: Record, column: str) -> str:
    if not (text := record.get(column)):
        raise HexsimError(f"there is no value in column '{column}'; every row needs one")
    if len(text) > _MOST:
        raise HexsimError(f"{column} '{shortened(text)}' has {len(text)} characters, too many")
    return text


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _number(record: Record, column: str) -> float:
    text = _text(record, column)
    value = _float(text)
    if math.isnan(value) or not is_quantity(value):
        known = "a number" if math.isnan(value) else "of a size that a quantity may have"
        raise HexsimError(f"{column} '{text}' is not {known}")
    return value


def _positive(record: Record, column: str) -> float:
    value = _number(record, column)
    if value <= 0:
        raise HexsimError(f"{column} {value:g} is not more than zero")
    return value


def _idle_ms(record: Record) -> float | None:
    column = "idle_ms_before_call"
    if record.get(column, _UNKNOWN) in ("", _UNKNOWN):
        return None
    value = _number(record, column)
    if value < 0:
        raise HexsimError(f"{column} {value:g} is less than zero")
    return value


def _known(record: Record, column: str, find: Callable[[str], object]) -> str | None:
    value = record.get(column, "")
    if value in ("", _UNKNOWN):
        return None
    find(value)
    return value


def _resolution_us(record: Record, runtime: str) -> float:
    """Return half of what repetitions differ by, and at least the rounding."""
    if runtime != "dsp" or not all(record.get(name) for name in _SPREAD):
        return _ROUNDING_US
    low, high = (_time_us(record, name) for name in _SPREAD)
    return max(_ROUNDING_US, (high - low) / 2)


def _time_us(record: Record, column: str) -> float:
    value = _float(record[column])
    if not is_quantity(value) or value < 0:
        raise HexsimError(f"{column} '{shortened(record[column])}' is not a time in microseconds")
    return value
