"""Why a layer adds noise: each possible cause is removed in turn, and the layer run again.

A cause is a change to the encodings of one layer, with the model as its remedy would change it.
Whether it is the real cause is measured, not decided by thresholds: the layer runs alone, in the
integer kernels of its runtime, on the float values of its inputs. So errors of earlier layers do
not count, and the gain of removing a cause is measured.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.outputs import layers_on, with_chosen
from hexsim.deployment import Deployment
from hexsim.errors import spelled
from hexsim.execution.executors import SubnetExecutor
from hexsim.graph.ir import FloatArray, Layer
from hexsim.layers import Weighted
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.records import dataclass, replace
from hexsim.results.validation import DiagnosedCause, Diagnosis, TensorError
from hexsim.texts.fields import finite, taken
from hexsim.texts.figures import percent

OUTLIER_RATIO = 8.0
"""Ratio from which the widest channel of a weight is called an outlier: the median channel then
has lost 3 of 8 bits (our choice; it only names the cause, its effect is measured)."""

OUTLIER = "range outlier channel"

WELL_USED = 0.89
"""Share of an encoding's range in use, above which a tighter one would gain less than 1 dB of SQNR,
20 log10(1 / 0.89), and is not considered."""

Errors = Mapping[str, TensorError]
"""By tensor name."""


@dataclass(frozen=True)
class Cause:
    """A possible cause: the finding, its tensor, the remedy, and the model with the remedy."""

    kind: str
    tensor: str
    finding: str
    remedy: str
    remedied: Model


def suspects(layer: Layer, model: Model, errors: Errors) -> tuple[Cause, ...]:
    """Return the possible causes for `layer`."""
    causes = (make(layer, model, errors) for make in CAUSES)
    return tuple(cause for cause in causes if cause is not None)


def weight_range(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """Check for one encoding of all channels of a weight although their ranges differ."""
    if not isinstance(layer, Weighted):
        return None
    encoding = model.parameters.get(layer.weight)
    if not isinstance(encoding, Encoding) or layer.output_channels < 2:
        return None
    limits = channel_limits(_values(model, layer.weight))
    widest, median = int(np.argmax(limits)), float(np.median(limits))
    ratio = float(limits[widest]) / median if median else math.inf
    dead = _dead(widest, layer, errors)
    outlier = OUTLIER if ratio >= OUTLIER_RATIO else "one range for all channels"
    finding = (
        f"channel {widest} of weight '{layer.weight}' reaches {limits[widest]:.3g}, the median "
        f"channel {median:.3g} ({ratio:.3g} times less); all share one step of "
        f"{encoding.delta:.3g}{dead}"
    )
    per_channel = AxisEncoding(
        tuple(
            Encoding.symmetric_of(max(float(limit), MINIMUM_RANGE / 2), encoding.bitwidth)
            for limit in limits
        )
    )
    return Cause(
        "dead channel" if dead else outlier,
        layer.weight,
        finding,
        f"quantise weights per channel ({spelled('axis_weights', True)})",
        _with_parameter(model, layer.weight, per_channel),
    )


def coarse_bias(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """Check for an 8-bit bias, whose step is coarse compared with the output's."""
    if not isinstance(layer, Weighted) or layer.bias is None:
        return None
    encoding = model.parameters.get(layer.bias)
    if not isinstance(encoding, Encoding):
        return None
    values = np.abs(_values(model, layer.bias))
    widest, step = int(np.argmax(values)), model.activations[layer.output].delta
    finding = (
        f"bias '{layer.bias}' spans {encoding.max - encoding.min:.3g} (channel {widest}) in "
        f"{encoding.bitwidth} bits: a step of {encoding.delta:.3g}, "
        f"{encoding.delta / step:.3g} steps of the output{_dead(widest, layer, errors)}"
    )
    return Cause(
        "coarse bias",
        layer.bias,
        finding,
        f"store biases in 32 bits ({spelled('bias_bits', 32)})",
        _with_parameter(model, layer.bias, None),
    )


def clipped_activation(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """Check for inputs or an output with values outside the range of their encoding."""
    clipped = [row for row in _coded(layer, errors) if row.clipped]
    if not clipped:
        return None
    worst = max(clipped, key=lambda row: row.clipped)
    return Cause(
        "clipped activation",
        worst.tensor,
        f"tensor '{worst.tensor}' has {percent(worst.clipped)} of its values clipped: "
        f"{_ranges(worst)}",
        f"calibrate on inputs like these ({spelled('input_list')} of hexsim quantize)",
        _with_seen_ranges(model, clipped),
    )


def unused_range(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """Check for inputs or an output that use only part of their range, so the step is coarse."""
    loose = [row for row in _coded(layer, errors) if not row.clipped and _used(row) < WELL_USED]
    if not loose:
        return None
    loosest = min(loose, key=_used)
    return Cause(
        "unused range",
        loosest.tensor,
        f"tensor '{loosest.tensor}' uses {_used(loosest):.0%} of its range: {_ranges(loosest)}",
        f"calibrate on inputs like these ({spelled('input_list')} of hexsim quantize), or let "
        f"outliers clip ({spelled('enhanced')})",
        _with_seen_ranges(model, loose),
    )


CAUSES: tuple[Callable[[Layer, Model, Errors], Cause | None], ...] = (
    weight_range,
    coarse_bias,
    clipped_activation,
    unused_range,
)


def channel_limits(weight: FloatArray) -> FloatArray:
    """Largest magnitude in each output channel (last axis)."""
    limits: FloatArray = np.abs(weight).max(axis=tuple(range(weight.ndim - 1)))
    return limits


def _coded(layer: Layer, errors: Errors) -> list[TensorError]:
    rows = [errors[name] for name in (*layer.inputs, *layer.outputs) if name in errors]
    return [row for row in rows if row.encoding is not None]


def _used(row: TensorError) -> float:
    """Return the share of the encoding's range that values use; zero counts as used."""
    assert row.encoding is not None
    low, high = row.seen
    used = max(high, 0.0) - min(low, 0.0)
    return used / (row.encoding.max - row.encoding.min)


def _ranges(row: TensorError) -> str:
    assert row.encoding is not None
    low, high = row.seen
    return f"encoded {row.encoding.min:.3g} to {row.encoding.max:.3g}, seen {low:.3g} to {high:.3g}"


def _with_seen_ranges(model: Model, rows: list[TensorError]) -> Model:
    encodings = {
        row.tensor: Encoding.from_range(*row.seen, row.encoding.bitwidth)
        for row in rows
        if row.encoding is not None
    }
    return replace(model, activations={**model.activations, **encodings})


def _dead(channel: int, layer: Layer, errors: Errors) -> str:
    """Return words to add about a channel whose output never changes."""
    row = errors.get(layer.output)
    if row is None or channel not in row.constant:
        return ""
    return f"; that channel is dead: '{layer.output}' never changes there"


def _values(model: Model, name: str) -> FloatArray:
    return model.network.constants[name].finite().astype(np.float32, copy=False)


def _with_parameter(model: Model, name: str, encoding: AxisEncoding | None) -> Model:
    """Return the model with another encoding of one parameter; None leaves 32 bits."""
    parameters = {n: e for n, e in model.parameters.items() if n != name}
    stored = {n: constant for n, constant in model.stored_constants.items() if n != name}
    changed = parameters if encoding is None else {**parameters, name: encoding}
    return replace(model, parameters=changed, stored_constants=stored)


LEAST_GAIN_DB = 1.0
"""Least gain in dB for which a cause is reported (our choice: a change that can be measured)."""


def diagnose(
    deployment: Deployment,
    errors: Sequence[TensorError],
    names: Sequence[str],
    inputs: Iterable[Mapping[str, FloatArray]],
) -> tuple[Diagnosis, ...]:
    """Explain the fixed-point layers `names`; `errors` has the rows of all tensors."""
    network = deployment.network
    takes = layers_on(deployment)
    trials = [
        _Trials(layer, deployment, errors)
        for layer in network.layers
        if layer.name in names and layer.name in takes
    ]
    if not trials:
        return ()
    needed = {name for trial in trials for name in trial.tensors}
    engine = FloatEngine(network, outputs=[n for n in network.tensors if n in needed])
    for feed in inputs:
        values = engine.run(feed)
        for trial in trials:
            trial.add(values)
    by_name = {trial.layer.name: trial.diagnosis() for trial in trials}
    return tuple(by_name[name] for name in names if name in by_name)


class _Trials:
    """One layer as it is, and without each of its possible causes."""

    def __init__(self, layer: Layer, deployment: Deployment, errors: Sequence[TensorError]) -> None:
        self.layer = layer
        model = deployment.loaded
        tensors = model.network.tensors
        self._inputs = [n for n in dict.fromkeys(layer.inputs) if n in tensors]
        self.tensors = (*self._inputs, *layer.outputs)
        self._causes = suspects(layer, model, {row.tensor: row for row in errors})
        models = (model, *(cause.remedied for cause in self._causes))
        self._executors = [self._alone(deployment, model) for model in models]
        self._distances = [Distance() for _ in models]

    def add(self, values: Mapping[str, FloatArray]) -> None:
        feed = {name: values[name] for name in self._inputs}
        for executor, distance in zip(self._executors, self._distances, strict=True):
            for name, array in executor.run(feed).items():
                distance.add(values[name], array)

    def diagnosis(self) -> Diagnosis:
        alone_db, *remedied = (distance.sqnr_db for distance in self._distances)
        helpful = [
            (cause, db)
            for cause, db in zip(self._causes, remedied, strict=True)
            if db >= alone_db + LEAST_GAIN_DB
        ]
        helpful.sort(key=lambda pair: -pair[1])
        return Diagnosis(
            layer=self.layer.name,
            type=self.layer.type,
            alone_db=finite(alone_db),
            findings=tuple(
                taken(DiagnosedCause, cause, remedied_db=finite(db)) for cause, db in helpful
            ),
        )

    def _alone(self, deployment: Deployment, model: Model) -> SubnetExecutor:
        part = model.network.subnetwork([self.layer], self._inputs, self.layer.outputs)
        single = replace(model, network=part)
        return with_chosen(deployment, single, {self.layer.name}).executor()
