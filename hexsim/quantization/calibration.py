"""Calibration observes the values of every activation over a set of inputs.

The float network runs in onnxruntime with every tensor as an output, one input at a time, in parts
if its tensors are many, and only an observation of each tensor is stored. So memory is bounded by
the budget and one histogram per tensor for any number of inputs, and each input runs once.

Ranges do not show how many values of a concat's operand survive. So if an operand's range is only a
few steps of the output, the float network runs once more, on the first input, and they are counted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from hexsim.errors import HexsimError
from hexsim.files.remembered import Remembered
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Concat, Neuron, Softmax
from hexsim.onnx_io.every_tensor import EveryTensor
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence import Evidence, Survival, UnusedRange, dead_in_floats
from hexsim.quantization.observation import Histogram, Observation


def observe(
    network: Network,
    inputs: Iterable[Mapping[str, FloatArray]],
    progress: Callable[[int], None] = lambda done: None,
    *,
    with_histograms: bool = False,
    change: Callable[[Mapping[str, FloatArray]], Mapping[str, FloatArray]] | None = None,
) -> dict[str, Observation]:
    """Return an observation of every float activation over `inputs` (arrays in stored order).

    Tensors whose size depends on values are left out. `progress` is called with the number of
    inputs done. `change` is called with all tensors of each inference; its result is observed.
    Raises HexsimError if there is no input, or if an input or activation holds NaN or infinity.
    """
    names = _observed(network)
    engine = EveryTensor(network, names, together=change is not None)
    observations: dict[str, Observation] = {}
    count = 0
    for count, feed in enumerate(inputs, start=1):
        for name in network.inputs:
            if fault := network.input_format(name).fault(feed[name]):
                raise HexsimError(f"calibration input {count}: input '{name}' holds {fault}")
        seen: Iterable[tuple[str, FloatArray]] = chain(feed.items(), engine.run(feed))
        for name, array in seen if change is None else change(dict(seen)).items():
            if name not in names:
                continue
            observation = Observation.of(array)
            if not np.isfinite((observation.low, observation.high)).all():
                raise _not_finite(name, count, network)
            if with_histograms:
                observation = replace(observation, histogram=Histogram.of(array))
            earlier = observations.get(name)
            observations[name] = observation if earlier is None else earlier.joined(observation)
        progress(count)
    if count == 0:
        raise HexsimError("calibration needs at least one input; the list is empty")
    return observations


Calibrated = Remembered[object, Any]
"""What several ways to quantise have in common: observations, means, equalised networks."""


def unobserved(network: Network) -> dict[str, Observation]:
    """Return the range 0 to 1 for every float activation, without running the network."""
    return dict.fromkeys(_observed(network), Observation(0.0, 1.0))


def _observed(network: Network) -> tuple[str, ...]:
    return tuple(
        name for name, t in network.tensors.items() if t.dtype == "float32" and not t.varies
    )


def _not_finite(name: str, count: int, network: Network) -> HexsimError:
    """Return the error for a tensor `name` that holds NaN or infinity, with the cause if known."""
    what = f"calibration input {count} gives tensor '{name}' NaN or infinite values"
    layers = [network.producers[name]] if name in network.producers else []
    for layer in layers:
        for read in layer.inputs:
            constant = network.constants.get(read)
            if constant is not None and not np.isfinite(constant.value()).all():
                return HexsimError(
                    f"{what}: layer '{layer.name}' reads constant '{read}', which holds infinite "
                    "numbers, and no code stands for one; export the model with finite numbers"
                )
    return HexsimError(f"{what}; check that input and the model's weights")


FEW_STEPS = 8
"""Values of an operand are counted if they reach less far than this many steps of the output.

Of values spread evenly over 8 steps, 1 in 16 is lost, far from what is reported (our choice)."""

FEW_SURVIVORS = 0.1
"""Share of surviving values below which the loss is reported.

A sparse operand loses small values with any encoding, and its large values matter; if 9 of 10
values are lost, large ones are lost too (our choice)."""

FEW_CODES = 16
"""An activation that uses fewer codes is reported: it has the precision of less than 4 bits.

Our choice: a range set for other inputs may be 4 times too wide, but hardly 16 times."""

NOISE = 1e-6
"""Largest value, in real units, that may be a rounding error of zero (our choice)."""

_BOUNDED = ("sigmoid", "tanh", "hard_sigmoid", "erf", "softsign", "sin", "cos")
"""Functions whose range is known for any input, like a softmax's.

Inputs for which their values stay small do not make a range of 0 to 1 wrong."""


class FirstKept:
    """Inputs for a single pass that stores the first of them in `first`, which is empty before."""

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

    `network` has no Convert layers yet, `seen` has the observations over all calibration inputs,
    and `first` is the first input, arrays in stored order. Both are empty without inputs, and no
    values are counted.
    """
    doubtful = [
        (layer, name)
        for layer in (network.layers if first else ())
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
    losses = (count for count in counted if count.surviving < FEW_SURVIVORS * count.values)
    return Evidence(
        dead=tuple(dead_in_floats(network, parameters)),
        survivals=tuple(losses),
        unused_ranges=tuple(_unused(network, activations, seen)),
    )


def _reaches_few_steps(encoding: Encoding, joined: Encoding, seen: Observation | None) -> bool:
    """Return True if values reach few steps of the output and have a finer encoding themselves."""
    low, high = (encoding.min, encoding.max) if seen is None else (seen.low, seen.high)
    return encoding.delta < joined.delta and max(-low, high) < FEW_STEPS * joined.delta


def _values(
    network: Network, names: set[str], first: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    written = sorted(names & network.producers.keys())
    values = FloatEngine(network, outputs=written).run(first) if written else {}
    for name in names - values.keys():
        array = first[name] if name in first else network.constants[name].value()
        values[name] = array.astype(np.float32, copy=False)
    return values


def _survival(
    layer: str, name: str, values: FloatArray, encoding: Encoding, joined: Encoding
) -> Survival:
    """Count as the integer kernel computes: codes of the operand become codes of the output."""
    reals = values[np.isfinite(values)]
    codes = encoding.quantize(reals)
    nonzero = codes != encoding.zero_point
    after = joined.quantize(encoding.dequantize(codes[nonzero]))
    surviving = np.count_nonzero(after != joined.zero_point)
    return Survival(layer, name, int(np.count_nonzero(nonzero)), int(surviving))


def _unused(
    network: Network, activations: Mapping[str, Encoding], seen: Mapping[str, Observation]
) -> Iterator[UnusedRange]:
    """Yield activations whose values, with zero, reach over few steps of their own encoding.

    Codes that are only moved are told where they are a small part of a tensor of larger values.
    """
    few = [
        name
        for name, encoding in activations.items()
        if name in seen
        and _span(seen[name]) > NOISE
        and round(_span(seen[name]) / encoding.delta) + 1 < FEW_CODES
    ]
    for name in few:
        _, *sources = moved = list(_moved_from(network, name))
        if set(few).isdisjoint(sources) and not _has_range_of_its_kind(network, moved[-1]):
            yield UnusedRange(name, seen[name].low, seen[name].high)


def _moved_from(network: Network, name: str) -> Iterator[str]:
    """Yield `name`, and the tensors from which its codes were moved, the computed one last."""
    yield name
    while name in network.producers and network.producers[name].moves_codes:
        name = network.producers[name].inputs[0]
        yield name


def _span(seen: Observation) -> float:
    return max(0.0, seen.high) - min(0.0, seen.low)


def _has_range_of_its_kind(network: Network, name: str) -> bool:
    """Return True if the encoding rightly does not depend on calibration."""
    if name not in network.producers:
        return network.input_format(name).type == "image"
    layer = network.producers[name]
    if isinstance(layer, Neuron):
        return layer.function in _BOUNDED
    return layer.counts or isinstance(layer, Softmax)
