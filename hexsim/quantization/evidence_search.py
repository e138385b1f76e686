"""Looks for evidence of losses in what calibration saw.

Ranges are those of all calibration inputs, which `observe` has. How many values of a concat's
operand survive no range tells. So where an operand's range is a few steps of the output, and only
there, the float network runs once more, on the first calibration input, and values are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Concat, Neuron, Softmax
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.quantization.dead_channels import dead_in_floats
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence import Evidence, Survival, UnusedRange
from hexsim.quantization.observation import Observation

FEW_STEPS = 8
"""Operands that reach less far than that many steps of the output are counted: of values spread
evenly over 8 steps, 1 in 16 is lost, far from what is told (our choice)."""

FEW_SURVIVORS = 0.1
"""Largest share of survivors that is told: a sparse operand loses small values to any encoding, and
its large ones carry what it says; where 9 of 10 are lost these are too (our choice)."""

FEW_CODES = 16
"""An activation that uses fewer codes is told: it is as if it had less than 4 bits (our choice).
A range set for other inputs than those given may well be 4 times, but hardly 16 times too wide."""

NOISE = 1e-6
"""Values this small, in real units, may be what float arithmetic leaves of zero (our choice)."""

_BOUNDED = ("sigmoid", "tanh", "hard_sigmoid", "erf", "softsign", "sin", "cos")
"""Functions whose range is known whatever the input, as a softmax's is: inputs on which they stay
small say nothing against a range of 0 to 1."""


class FirstKept:
    """Inputs for a single pass, of which the first is kept; `first` is empty before it."""

    def __init__(self, inputs: Iterable[Mapping[str, FloatArray]]) -> None:
        self._inputs = inputs
        self.first: Mapping[str, FloatArray] = {}

    def __iter__(self) -> Iterator[Mapping[str, FloatArray]]:
        """Go through the inputs."""
        for place, feed in enumerate(self._inputs):
            if place == 0:
                self.first = feed
            yield feed


def evidence(
    network: Network,
    activations: Mapping[str, Encoding],
    parameters: Mapping[str, Encoding | AxisEncoding],
    seen: Mapping[str, Observation],
    first: Mapping[str, FloatArray],
) -> Evidence:
    """Return what is lost for certain on the calibration inputs.

    `network` has no Convert layers yet, `seen` is what calibration saw of all inputs, and `first`
    is the first of them, arrays in stored order.
    """
    doubtful = [
        (layer, name)
        for layer in network.layers
        if isinstance(layer, Concat) and layer.output in activations
        for name in dict.fromkeys(layer.inputs)
        if name in activations
        and _reaches_few_steps(activations[name], activations[layer.output], seen.get(name))
    ]
    values = _values(network, {name for _, name in doubtful}, first)
    counted = (
        _survival(layer.name, name, values[name], activations[name], activations[layer.output])
        for layer, name in doubtful
    )
    few = (one for one in counted if one.surviving < FEW_SURVIVORS * one.values)
    return Evidence(
        dead=tuple(dead_in_floats(network, parameters)),
        survivals=tuple(few),
        unused_ranges=tuple(_unused(network, activations, seen)),
    )


def _reaches_few_steps(encoding: Encoding, joined: Encoding, seen: Observation | None) -> bool:
    """True if values reach few steps of the output, and have finer ones themselves."""
    low, high = (encoding.min, encoding.max) if seen is None else (seen.low, seen.high)
    return encoding.delta < joined.delta and max(-low, high) < FEW_STEPS * joined.delta


def _values(
    network: Network, names: set[str], first: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    """The tensors and constants `names` for the input `first`; nothing runs if there is none."""
    written = sorted(names & network.producers.keys())
    values = FloatEngine(network, outputs=written).run(first) if written else {}
    for name in names - values.keys():
        values[name] = first[name] if name in first else _real(network, name)
    return values


def _real(network: Network, name: str) -> FloatArray:
    return network.constants[name].value().astype(np.float32, copy=False)


def _survival(
    layer: str, name: str, values: FloatArray, encoding: Encoding, joined: Encoding
) -> Survival:
    """Count as the integer kernel has it: codes of the operand become codes of the output."""
    reals = values[np.isfinite(values)]
    codes = encoding.quantize(reals)
    told = codes != encoding.zero_point
    after = joined.quantize(encoding.dequantize(codes[told]))
    surviving = np.count_nonzero(after != joined.zero_point)
    return Survival(layer, name, int(np.count_nonzero(told)), int(surviving))


def _unused(
    network: Network, activations: Mapping[str, Encoding], seen: Mapping[str, Observation]
) -> Iterator[UnusedRange]:
    """Activations whose values, with zero, reach over few steps of an encoding of their own."""
    for name, encoding in activations.items():
        if name not in seen or _has_range_of_its_kind(network, name):
            continue
        low, high = seen[name].low, seen[name].high
        span = max(0.0, high) - min(0.0, low)
        if span > NOISE and round(span / encoding.delta) + 1 < FEW_CODES:
            yield UnusedRange(name, low, high)


def _has_range_of_its_kind(network: Network, name: str) -> bool:
    """True if the encoding does not depend on what calibration sees, and need not."""
    if name not in network.producers:
        return network.input_format(name).type == "image"
    layer = network.producers[name]
    if isinstance(layer, Neuron):
        return layer.function in _BOUNDED
    return layer.moves_codes or layer.counts or isinstance(layer, Softmax)
