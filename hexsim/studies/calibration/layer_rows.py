"""Read times of layers that a user measured: a file in the format of layer_latency.csv.

Required are `network`, `layer` and a time in microseconds, `dsp_us`, `cpu_us` or `gpu_us`. The
network is a built-in one, or a file beside the rows, with or without its ending. Layers that take
no time and the network's input are left out.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from hexsim.datasheets.measurements import MeasuredLayer
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import is_builtin
from hexsim.errors import HexsimError, unknown
from hexsim.quantization.model import Model
from hexsim.studies.calibration.own_rows import Names, records
from hexsim.studies.calibration.prediction import deployed
from hexsim.texts.names import visible
from hexsim.texts.text import shortened
from hexsim.texts.trees import is_quantity

_TIMES = {"dsp_us": "dsp", "cpu_us": "cpu", "gpu_us": "gpu"}
_SPREAD = ("dsp_min_us", "dsp_max_us")
_OTHERS = ("index", "type", "output_nchw", "dsp_tf8_buffers_us", "source")
_REQUIRED = (("network",), ("layer",), tuple(_TIMES))
LAYER_COLUMNS = ("network", "layer", "chip", "stack", "profile", *_TIMES, *_SPREAD, *_OTHERS)
_INPUT = "data"
_ROUNDING_US = 0.5
_ENDINGS = ("", ".onnx", ".dlc")

Record = dict[str, str]


def read_layers(
    source: Path, platform: Platform, names: Names, load: Callable[[str], Model]
) -> list[MeasuredLayer]:
    """Read the layers of one platform.

    Raises HexsimError that names file, line and the first mistake.
    """
    reader = _Reader(source.parent, platform, names, load)
    rows: list[MeasuredLayer] = []
    for line, record in records(source, "layer", LAYER_COLUMNS, _REQUIRED, "network"):
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
