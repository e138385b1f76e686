"""What can make one layer lose accuracy, and the layer without it.

Each cause is a change to the encodings of one layer, the one that its remedy would make. Whether
a cause is at work is then a matter of measuring, not of thresholds: hexsim.accuracy.diagnosis
runs the layer with the change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hexsim.accuracy.layer_errors import LayerError
from hexsim.graph.ir import FloatArray, Layer
from hexsim.layers import Weighted
from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding, Encoding
from hexsim.quantization.model import Model

OUTLIER_RATIO = 8.0
"""From which the widest channel of a weight is called an outlier: the median channel then has
lost 3 of 8 bits (our choice; it names the cause, whether it counts is measured)."""

OUTLIER = "range outlier channel"

WELL_USED = 0.89
"""Share of an encoding's range from which on a tighter one would win less than 1 dB of SQNR,
20 log10(1 / 0.89), and is no suspect."""

Errors = Mapping[str, LayerError]
"""By tensor name."""


@dataclass(frozen=True)
class Cause:
    """One suspect: what was found, which tensor it is about, the remedy, and the model with it."""

    kind: str
    tensor: str
    finding: str
    remedy: str
    remedied: Model


def suspects(layer: Layer, model: Model, errors: Errors) -> tuple[Cause, ...]:
    """The causes that could be at work in `layer`."""
    found = (make(layer, model, errors) for make in CAUSES)
    return tuple(cause for cause in found if cause is not None)


def weight_range(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """One encoding for all channels of a weight, though their ranges differ."""
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
        "quantise weights per channel (--axis-quant)",
        _with_parameter(model, layer.weight, per_channel),
    )


def coarse_bias(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """An 8-bit bias, whose one step is coarse beside the output's."""
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
        "store biases in 32 bits (--bias-bitwidth 32)",
        _with_parameter(model, layer.bias, None),
    )


def clipped_activation(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """Inputs or output with values outside the range of their encoding."""
    clipped = [row for row in _coded(layer, errors) if row.clipped]
    if not clipped:
        return None
    worst = max(clipped, key=lambda row: row.clipped)
    return Cause(
        "clipped activation",
        worst.tensor,
        f"tensor '{worst.tensor}' has {worst.clipped:.2%} of its values clipped: {_ranges(worst)}",
        "calibrate on inputs like these (--input-list of hexsim quantize)",
        _with_seen_ranges(model, clipped),
    )


def unused_range(layer: Layer, model: Model, errors: Errors) -> Cause | None:
    """Inputs or output that use only part of their encoding, so that the step is too coarse."""
    loose = [row for row in _coded(layer, errors) if not row.clipped and _used(row) < WELL_USED]
    if not loose:
        return None
    loosest = min(loose, key=_used)
    return Cause(
        "unused range",
        loosest.tensor,
        f"tensor '{loosest.tensor}' uses {_used(loosest):.0%} of its range: {_ranges(loosest)}",
        "calibrate on inputs like these (--input-list of hexsim quantize), or let outliers clip "
        "(--use-enhanced-quantizer)",
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


def _coded(layer: Layer, errors: Errors) -> list[LayerError]:
    """The rows of the inputs and outputs of `layer` that are codes."""
    rows = [errors[name] for name in (*layer.inputs, *layer.outputs) if name in errors]
    return [row for row in rows if row.encoding is not None]


def _used(row: LayerError) -> float:
    """Share of the encoding's range that was seen in use, zero always being so."""
    assert row.encoding is not None
    seen = max(row.high, 0.0) - min(row.low, 0.0)
    return seen / (row.encoding.max - row.encoding.min)


def _ranges(row: LayerError) -> str:
    assert row.encoding is not None
    return (
        f"encoded {row.encoding.min:.3g} to {row.encoding.max:.3g}, "
        f"seen {row.low:.3g} to {row.high:.3g}"
    )


def _with_seen_ranges(model: Model, rows: list[LayerError]) -> Model:
    seen = {
        row.tensor: Encoding.from_range(row.low, row.high, row.encoding.bitwidth)
        for row in rows
        if row.encoding is not None
    }
    return replace(model, activations={**model.activations, **seen})


def _dead(channel: int, layer: Layer, errors: Errors) -> str:
    """What to add about a channel whose output never changes."""
    row = errors.get(layer.output)
    if row is None or channel not in row.constant:
        return ""
    return f"; that channel is dead: '{layer.output}' never changes there"


def _values(model: Model, name: str) -> FloatArray:
    return model.network.constants[name].finite().astype(np.float32, copy=False)


def _with_parameter(model: Model, name: str, encoding: AxisEncoding | None) -> Model:
    """The model with another encoding of one parameter; None leaves 32 bits."""
    others = {n: e for n, e in model.parameters.items() if n != name}
    stored = {n: constant for n, constant in model.stored_constants.items() if n != name}
    parameters = others if encoding is None else {**others, name: encoding}
    return replace(model, parameters=parameters, stored_constants=stored)
