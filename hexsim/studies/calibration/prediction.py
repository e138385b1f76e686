"""Simulated times of measured rows with changed constants, and the weight of each row.

Also the constants that measurements may move, and their values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

import numpy as np

from hexsim.datasheets.datasheet import Datasheet, recorded
from hexsim.datasheets.measurements import MeasuredLayer, Measurement
from hexsim.datasheets.quantity import Quantity
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.planning.sections import automatic
from hexsim.quantization.model import Model
from hexsim.records import dataclass
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload
from hexsim.studies.calibration.estimator import Array

DatasheetT = TypeVar("DatasheetT", bound=Datasheet)

BOUNDS_ERRORS = 2.0
"""Half the distance between two bounds, in standard deviations of what is known before."""


@dataclass(frozen=True)
class Parameter:
    """One constant with bounds: its dotted path and the chips or stacks that have it."""

    path: str
    datasheets: frozenset[str]
    low: float
    committed: float
    high: float
    unit: str

    @classmethod
    def of(cls, path: str, constant: Quantity, datasheets: frozenset[str]) -> Parameter:
        """Return the constant that all of `datasheets` state with equal values."""
        low, high = constant.low or 0.0, constant.high or math.inf
        return cls(path, datasheets, low, constant.value, high, constant.unit)

    @property
    def label(self) -> str:
        """Its name in tables; only the path for a constant of several datasheets."""
        name, *others = self.datasheets
        return self.path if others else f"{self.path} ({name})"

    @property
    def log_error(self) -> float:
        """Standard deviation of the logarithm by the bounds alone."""
        if self.low > 0:
            return math.log(self.high / self.low) / (2 * BOUNDS_ERRORS)
        return math.log(self.high / self.committed) / BOUNDS_ERRORS

    @property
    def moves(self) -> bool:
        """True if the bounds leave a choice that a factor can express."""
        return self.committed > 0 and self.high < math.inf and self.log_error > 0

    def set(self, datasheet: DatasheetT, value: float) -> DatasheetT:
        """Return the datasheet with the constant at `value`, or unchanged if it has none."""
        if datasheet.name not in self.datasheets:
            return datasheet
        return datasheet.with_value(self.path, value)


Values = Mapping[Parameter, float]


MODEL_ERROR = 0.05
"""Relative error granted to any model, so that a row measured to 1 % does not outweigh all others
(assumed)."""


class MeasuredRun(NamedTuple):
    """The run in which a row was measured; total and forward time are rows of one run."""

    chip: str
    stack: str
    runtime: str
    model: str
    idle_ms: float
    perf_profile: str | None
    buffer: BufferType | None

    @classmethod
    def of(cls, row: Measurement) -> MeasuredRun:
        """Return the run of a row; unknown idle time counts as none (a benchmark loop)."""
        names, buffer = (row.chip, row.stack, row.runtime), cast("BufferType | None", row.buffer)
        return cls(*names, row.model, row.idle_ms or 0.0, row.perf_profile, buffer)


class _Times(NamedTuple):
    """The simulated times of one run in microseconds."""

    total_us: float
    forward_us: float
    layers_us: dict[str, float]


class Predictions:
    """Simulates rows, each once for the same constants.

    `platform` loads the chip and the stack that a row names, `model` the network.
    """

    def __init__(
        self,
        platform: Callable[[str, str], Platform] = Platform.load,
        model: Callable[[str], Model] = load,
    ) -> None:
        self._load_platform = platform
        self.load_model = model
        self._platforms: dict[tuple[str, str], Platform] = {}
        self._workloads: dict[MeasuredRun, Workload] = {}
        self._reads: dict[MeasuredRun, dict[str, set[str]]] = {}
        self._times: dict[tuple[MeasuredRun, tuple[tuple[Parameter, float], ...]], _Times] = {}

    def ms(self, row: Measurement, values: Values) -> float:
        """Simulated latency of a row with some constants at other values."""
        run = MeasuredRun.of(row)
        reads = self.read(run)
        moved = tuple(
            (p, value) for p, value in values.items() if p.datasheets & reads.get(p.path, set())
        )
        times = self._simulated(run, moved)
        if isinstance(row, MeasuredLayer):
            return times.layers_us[row.layer] / 1e3
        return (times.forward_us if row.forward else times.total_us) / 1e3

    def logs(self, rows: Sequence[Measurement], values: Values) -> Array:
        """Logarithms of the simulated latencies."""
        return np.log([self.ms(row, values) for row in rows])

    def read(self, run: MeasuredRun) -> dict[str, set[str]]:
        """Return the constants that simulating a run reads: names of chip and stack by path."""
        if run not in self._reads:
            platform = self.platform(run)
            workload = self._workload(run)
            with recorded() as reads:
                platform.simulate(workload)
            owners_of: dict[str, set[str]] = {}
            for datasheet in (platform.chip, platform.stack):
                for path in reads.of(datasheet):
                    owners_of.setdefault(path, set()).add(datasheet.name)
            self._reads[run] = owners_of
        return self._reads[run]

    def platform(self, run: MeasuredRun) -> Platform:
        """Chip and stack of a run, as they are stated."""
        key = run.chip, run.stack
        if key not in self._platforms:
            self._platforms[key] = self._load_platform(*key)
        return self._platforms[key]

    def _simulated(self, run: MeasuredRun, moved: tuple[tuple[Parameter, float], ...]) -> _Times:
        key = run, moved
        if key not in self._times:
            platform = self.platform(run)
            chip, stack = platform.chip, platform.stack
            for parameter, value in moved:
                chip, stack = parameter.set(chip, value), parameter.set(stack, value)
            result = Platform(chip, stack).simulate(self._workload(run))
            layers_us = {layer.name: layer.us for layer in result.layers}
            self._times[key] = _Times(result.total_us, result.forward_us, layers_us)
        return self._times[key]

    def _workload(self, run: MeasuredRun) -> Workload:
        """Return the workload; plans depend on no constant, so all evaluations share it."""
        if run not in self._workloads:
            model = self.load_model(run.model)
            self._workloads[run] = deployed(model, self.platform(run), run.runtime).workload(
                idle_ms=run.idle_ms, perf_profile=run.perf_profile, buffer=run.buffer
            )
        return self._workloads[run]


def deployed(model: Model, platform: Platform, runtime: str) -> Deployment:
    """Deploy the model on a row's runtime.

    No weight is read: a float network is planned as the default quantiser would leave it. On aip it
    has the sections that the compiler would find; `hta` puts the whole network in one section.
    """
    on_engine = runtime == "hta"
    deployment = Deployment(model, platform, cast("Runtime", "aip" if on_engine else runtime))
    layers = deployment.model.network.layers
    if on_engine:
        return deployment.with_sections([[layer.name for layer in layers]], rules="1.25+")
    if runtime == "aip" and not model.quantized:
        sections = automatic(deployment.model, platform.stack.partitioning)
        return deployment.with_sections(
            [[layers[at].name for at in section] for section in sections]
        )
    return deployment


def weights(rows: Sequence[Measurement]) -> Array:
    """Weights of the rows' log residuals; two rows of one run count as one.

    A published range is two rows of one figure, and as uncertain as it is wide. All layers of a run
    count as one more row, because an error in the model of a class is in all of its layers.
    """
    count = Counter(map(_weighed, rows))
    figures: dict[tuple[MeasuredRun, bool, str], list[float]] = {}
    for row in rows:
        figures.setdefault(_figure(row), []).append(row.latency_ms)
    errors = []
    for row in rows:
        latencies = figures[_figure(row)]
        doubt_ms = max(row.resolution_ms, (max(latencies) - min(latencies)) / 2)
        errors.append(math.hypot(doubt_ms / row.latency_ms, MODEL_ERROR))
    return np.array([count[_weighed(row)] ** -0.5 for row in rows]) / errors


def group(row: Measurement) -> tuple[MeasuredRun, str]:
    """Return the rows that are left out together: those of a run, or of a class of its layers."""
    return MeasuredRun.of(row), row.layer_class if isinstance(row, MeasuredLayer) else ""


def _weighed(row: Measurement) -> tuple[MeasuredRun, bool]:
    """Return what counts as one row."""
    return MeasuredRun.of(row), isinstance(row, MeasuredLayer)


def _figure(row: Measurement) -> tuple[MeasuredRun, bool, str]:
    """Return what a row is a measurement of."""
    layer = row.layer if isinstance(row, MeasuredLayer) else ""
    return MeasuredRun.of(row), row.forward, layer
