"""What was measured on a phone, as a calibration: one latency, or factors per class of layers.

A profile gives a factor for each class of layers. The factor of a class is the sum of its measured
times over the sum of its simulated ones. Layers of one class are off by different factors, so a
class with few layers, or with most of its time in one, says little; so does one whose time is near
the rounding of the file. Its factor is moved towards that of all layers together: its own ratio has
the weight b / (b + v), in logarithms, where v is the variance of this ratio and b that between
classes beyond their v (empirical Bayes).

v is the mean variance of the layers within their classes, divided by the number of layers that
share the time of the class evenly, plus that of rounding. Classes that the profile lacks, or whose
time it gives to other layers, stay as they are simulated.

Left out: differences between networks beyond those between layers of one network.

A single latency is off itself. The measured figure is rounded, a repeated measurement gives another
one, and another release yet another. Besides, the model is off for the network that was measured,
as for any other, and the calibration carries this error over to all other networks. The causes are
independent and are added in quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Self

from hexsim.datasheets.quantity import Quantity
from hexsim.errors import HexsimError, spelled
from hexsim.records import dataclass
from hexsim.runtimes import MAIN_ENGINE, RUNTIMES, Runtime
from hexsim.texts.figures import figure
from hexsim.texts.trees import is_quantity
from hexsim.timing.results import LayerTiming

_FLOATS = "@htp_fp16"


def share(value: float, source: str) -> Quantity:
    """Return a cause of an error, as a share of the latency."""
    return Quantity(value=value, unit="1", source=source, confidence="inferred")


REPETITION = share(0.01, "rows of one network differ by 1 % (docs/results/htp.md)")
RELEASES = share(0.05, "rows of two releases differ by 3 to 5 % (docs/results/htp.md)")
_CAUSES = {
    "repeated measurements": REPETITION,
    "releases": RELEASES,
    "the model for the network measured": share(
        0.22,
        "the worst anchor of a chip, in the middle of the chips and precisions of which ten "
        "networks are measured; about twice the standard error (docs/results/htp.md)",
    ),
}
"""Half lengths of intervals that contain about nineteen in twenty, as shares of the latency."""


@dataclass(frozen=True)
class CalibrationPoint:
    """A network, built-in or a file, that took `ms` milliseconds on a runtime of the phone.

    `figure` is the latency as the user wrote it, whose last digit says how it was rounded; a
    number without one is exact.
    """

    network: str
    runtime: Runtime
    ms: float
    figure: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read NETWORK=MS, or NETWORK@htp_fp16=MS; HexsimError if it is neither."""
        named, equals, number = text.rpartition("=")
        try:
            ms = float(number)
        except ValueError:
            ms = math.nan
        network = named.removesuffix(_FLOATS)
        if not (network and equals and is_quantity(ms) and ms > 0):
            raise HexsimError(
                f"{spelled('anchor')} takes NETWORK=MS, such as resnet50=1.23, "
                f"NETWORK{_FLOATS}=MS for "
                f"a latency in float16, or NETWORK=FILE, the profile of a phone, not '{text}'"
            )
        return cls(network, "htp" if network == named else "htp_fp16", ms, number.strip())

    def __str__(self) -> str:
        floats = _FLOATS if self.runtime == "htp_fp16" else ""
        return f"{self.network}{floats}={self.figure or f'{self.ms:g}'}"

    @property
    def causes(self) -> Mapping[str, Quantity]:
        """The causes of its error, as shares of the latency."""
        if not self.figure:
            return _CAUSES
        last_digit = Decimal(self.figure).as_tuple().exponent
        assert isinstance(last_digit, int), "finite"
        source = f"half a unit of the last digit of {self.figure} ms"
        rounding = share(10.0**last_digit / 2 / self.ms, source)
        return {"rounding": rounding, **_CAUSES}

    @property
    def error(self) -> float:
        """Half the length of the interval of its factor, as a natural logarithm."""
        return math.hypot(*(cause.value for cause in self.causes.values()))

    @property
    def description(self) -> str:
        """The latency with its error, for headings."""
        return f"anchor {self} (itself off by up to {self.error:.0%})"


_STANDARD_ERRORS = 2.0
_ROUNDING_US = 0.5
"""The standard error of times that are all whole microseconds, as the tools print them."""
_UNKNOWN_SPREAD = 0.3
"""Standard deviation of the logarithm of a layer's error, where no class has two layers (assumed:
as in layer_latency.csv, all runtimes together)."""


@dataclass(frozen=True)
class LayerTimes:
    """The times of a layer in microseconds, and its class."""

    layer_class: str
    measured_us: float
    simulated_us: float


@dataclass(frozen=True)
class ClassFactor:
    """How many times as long a class of layers takes on a runtime as it is simulated.

    `ratio` is that of the class alone, `weight` (0 .. 1) its part in `factor`. `spread` is by how
    much its layers differ after scaling, `error` half the length of the interval of the factor;
    both are logarithms.
    """

    runtime: Runtime
    layer_class: str
    layers: int
    measured_us: float
    simulated_us: float
    ratio: float
    weight: float
    factor: float
    spread: float
    error: float

    def __str__(self) -> str:
        return f"{self.layer_class} x{figure(self.factor)} (off by {self.error:.0%})"

    def quantity(self, source: str) -> Quantity:
        """Return the factor as a constant of the chip."""
        return Quantity(
            value=self.factor,
            unit="1",
            source=source,
            confidence="calibrated",
            low=self.factor * math.exp(-self.error),
            high=self.factor * math.exp(self.error),
        )


@dataclass(frozen=True)
class CalibrationProfile:
    """The profile in `file` of a network, for all of its runtimes or for `runtime` alone.

    `classes` are the factors that follow on a platform, none before it is compared with one.
    """

    network: str
    file: str
    runtime: Runtime | None = None
    classes: tuple[ClassFactor, ...] = ()

    @classmethod
    def parse(cls, text: str) -> CalibrationProfile:
        """Read NETWORK=FILE or NETWORK@RUNTIME=FILE."""
        named, _, file = text.rpartition("=")
        network, at, asked = named.rpartition("@")
        runtime = next((name for name in RUNTIMES if at and name == asked), None)
        return cls(network if runtime else named, file, runtime)

    def __str__(self) -> str:
        return f"{self.network}{f'@{self.runtime}' if self.runtime else ''}={self.file}"

    def as_simulated(self, runtime: Runtime, layers: Iterable[LayerTiming]) -> tuple[str, ...]:
        """Return the classes of `layers`, timed on `runtime`, that have no factor."""
        scaled = {(factor.runtime, factor.layer_class) for factor in self.classes}
        ran_on = {MAIN_ENGINE[runtime]: runtime}
        pairs = ((ran_on.get(layer.engine, layer.engine), layer.layer_class) for layer in layers)
        return tuple(dict.fromkeys(pair[1] for pair in pairs if pair not in scaled))

    @property
    def causes(self) -> Mapping[str, Quantity]:
        """The causes of its error, as shares of the time of all of its layers."""
        total = sum(factor.simulated_us * factor.factor for factor in self.classes)
        of_classes = (
            (factor.simulated_us * factor.factor * factor.error / total) for factor in self.classes
        )
        source = "layers of one class differ; two standard errors of their factors"
        return {
            "repeated measurements": REPETITION,
            "releases": RELEASES,
            "layers of a class": share(math.hypot(*of_classes), source),
        }

    @property
    def error(self) -> float:
        """Half the length of the interval of the time of its layers, as a natural logarithm."""
        return math.hypot(*(cause.value for cause in self.causes.values()))

    @property
    def description(self) -> str:
        """The option with all factors and their errors, for headings."""
        by_runtime: dict[str, list[str]] = {}
        for factor in self.classes:
            by_runtime.setdefault(factor.runtime, []).append(str(factor))
        factors = "; ".join(f"{name}: {', '.join(by_runtime[name])}" for name in by_runtime)
        return f"anchor {self} ({factors}; other classes of layers as simulated)"


def class_factors(runtime: Runtime, layers: Iterable[LayerTimes]) -> tuple[ClassFactor, ...]:
    """Return the factor of each class, the longest first.

    Raises HexsimError if no layer has a time on both sides.
    """
    members: dict[str, list[LayerTimes]] = {}
    timed = [layer for layer in layers if layer.simulated_us]
    for layer in timed:
        members.setdefault(layer.layer_class, []).append(layer)
    rounding_us = _ROUNDING_US if all(layer.measured_us % 1 == 0 for layer in timed) else 0.0
    classes = [_Ratio.of(name, of_class) for name, of_class in members.items()]
    classes = [ratio for ratio in classes if ratio.measured_us]
    if not classes:
        raise HexsimError(f"no layer of the profile takes time on {runtime} on both sides")
    freedom = sum(ratio.even_layers - 1 for ratio in classes)
    within = sum(ratio.even_layers * ratio.spread**2 for ratio in classes)
    variance = within / freedom if freedom > 1e-9 else _UNKNOWN_SPREAD**2
    variance = max(variance, REPETITION.value**2)
    simulated = sum(ratio.simulated_us for ratio in classes)
    overall = math.log(sum(ratio.measured_us for ratio in classes) / simulated)
    errors = [ratio.variance(variance, rounding_us) for ratio in classes]
    parts = ((ratio.simulated_us / simulated) ** 2 for ratio in classes)
    of_all = sum(part * error for part, error in zip(parts, errors, strict=True))
    between = _between([ratio.log for ratio in classes], errors)
    factors = []
    for ratio, error in zip(classes, errors, strict=True):
        weight = between / (between + error)
        left = weight * error + (1 - weight) ** 2 * of_all
        factors.append(
            ClassFactor(
                runtime,
                ratio.layer_class,
                ratio.layers,
                ratio.measured_us,
                ratio.simulated_us,
                math.exp(ratio.log),
                weight,
                math.exp(overall + weight * (ratio.log - overall)),
                ratio.spread,
                math.hypot(_STANDARD_ERRORS * math.sqrt(left), REPETITION.value, RELEASES.value),
            )
        )
    return tuple(sorted(factors, key=lambda factor: -factor.measured_us))


def _between(logs: Sequence[float], errors: Sequence[float]) -> float:
    """Return the variance between classes beyond their errors (DerSimonian and Laird, 1986)."""
    weights = [1 / error for error in errors]
    total = sum(weights)
    mean = sum(weight * log for weight, log in zip(weights, logs, strict=True)) / total
    squares = (weight * (log - mean) ** 2 for weight, log in zip(weights, logs, strict=True))
    scale = total - sum(weight**2 for weight in weights) / total
    return max(0.0, (sum(squares) - len(logs) + 1) / scale) if len(logs) > 1 else 0.0


@dataclass(frozen=True)
class _Ratio:
    """The sums of a class, and the spread of its layers around their ratio, as a logarithm."""

    layer_class: str
    layers: int
    measured_us: float
    simulated_us: float
    even_layers: float
    spread: float

    @classmethod
    def of(cls, name: str, layers: Sequence[LayerTimes]) -> _Ratio:
        measured = sum(layer.measured_us for layer in layers)
        simulated = sum(layer.simulated_us for layer in layers)
        parts = [layer.simulated_us / simulated for layer in layers]
        squares = (
            part * math.log(layer.measured_us * simulated / measured / layer.simulated_us) ** 2
            for part, layer in zip(parts, layers, strict=True)
            if layer.measured_us
        )
        even = 1 / sum(part**2 for part in parts)
        return cls(name, len(layers), measured, simulated, even, math.sqrt(sum(squares)))

    @property
    def log(self) -> float:
        """Measured over simulated time."""
        return math.log(self.measured_us / self.simulated_us)

    def variance(self, of_layers: float, rounding_us: float) -> float:
        rounding = rounding_us * math.sqrt(self.layers) / self.measured_us
        return of_layers / self.even_layers + rounding**2
