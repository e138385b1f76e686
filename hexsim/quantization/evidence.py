"""Findings: losses of a quantised network; evidence: the counts that prove them, also in a file.

Encodings, shapes and weights prove most losses without running the network. Others depend on the
values of activations, which are not available after calibration, or on float weights, which are not
after quantisation: their counts are recorded before, and a file stores them. So the findings are
the same before writing and after reading a file; without counts they are what encodings alone
prove. A network without losses has no records.

Dead channels are output channels whose weights are all quantised to zero, so they give their bias.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from hexsim.errors import spelled
from hexsim.graph.domains import Count, Natural, Real
from hexsim.graph.ir import Constant, FloatArray, Layer, Network
from hexsim.layers import Concat, Convert, Recurrent, Weighted
from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding, Encoding
from hexsim.records import dataclass
from hexsim.texts.fields import Part, Share, about

SHOWN = 5
"""The number of findings that are texts; documents have all."""

FindingKind = Literal[
    "joined below a step",
    "saturated weights",
    "dead channels",
    "steps too small",
    "unused range",
    "slower sections",
    "coarse biases",
    "coarse gates",
]


class Loss(Part):
    """What is lost for certain: values by encodings, or time by HTA sections."""

    kind: Annotated[FindingKind, about("what is lost")]
    layer: Annotated[str, about("where")]
    tensor: Annotated[str, about("the tensor or weight; empty for a loss of time")]
    share: Annotated[Share, about("how much of the values, or of the time")]
    sentence: Annotated[str, about("what is lost, where, and what to do about it")]


def sentences(findings: Iterable[Loss]) -> Iterator[str]:
    """Yield the sentences of the first findings, the worst ones, and the number of the others."""
    texts = list(dict.fromkeys(finding.sentence for finding in findings))
    yield from texts[:SHOWN]
    if len(texts) > SHOWN:
        yield f"and {len(texts) - SHOWN} more"


@dataclass(frozen=True)
class Survival:
    """How many values of an operand of the concat `layer` are not zero in its output.

    `values` counts those that are not zero in the operand, on the first calibration input;
    `surviving` counts those of them that are not zero after the concat.
    """

    layer: str
    tensor: str
    values: Count
    surviving: Count

    def fault(self) -> str | None:
        """Return what is wrong if more values survive than there are, or none were counted."""
        if not 0 <= self.surviving <= self.values or not self.values:
            return f"counts {self.surviving} of {self.values} values"
        return None


@dataclass(frozen=True)
class UnusedRange:
    """An activation whose values reach from `low` to `high`, in real units, on all inputs."""

    tensor: str
    low: Real
    high: Real

    def fault(self) -> str | None:
        """Return what is wrong if low and high are no range."""
        ordered = math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high
        return None if ordered else f"reaches from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class DeadChannels:
    """How many channels of `weight` are zero when quantised but not in floats.

    `lost` is their number, `reach` the largest magnitude of their float weights in real units.
    """

    weight: str
    lost: Natural
    reach: Real


@dataclass(frozen=True)
class Evidence:
    """Weights with dead channels, concat operands that lose most values, and unused ranges."""

    dead: tuple[DeadChannels, ...] = ()
    survivals: tuple[Survival, ...] = ()
    unused_ranges: tuple[UnusedRange, ...] = ()


NO_EVIDENCE = Evidence()


T = TypeVar("T", bound=np.number[Any])

NEGLIGIBLE = 2.0**-20
"""Share of a weight's largest value up to which a channel counts as dead in floats too.

Encodings per channel reach no further: a range of 1/4096, and 8 bits."""


def dead_channels(values: FloatArray, encoding: Encoding | AxisEncoding) -> npt.NDArray[np.bool_]:
    """Return which channels (last axis of `values`) are quantised to zero only; (channels,)."""
    return dead_codes(encoding.quantize(extremes(values)), encoding)


def dead_codes(
    codes: npt.NDArray[np.integer], encoding: Encoding | AxisEncoding
) -> npt.NDArray[np.bool_]:
    """Return the same for the codes of a weight."""
    zero = encoding.zero_point if isinstance(encoding, Encoding) else 0
    dead: npt.NDArray[np.bool_] = (extremes(codes) == zero).all(axis=0)
    return dead


def extremes(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return the smallest and the largest value of each channel; (2, channels)."""
    by_channel = values.reshape(-1, values.shape[-1])
    return np.stack([by_channel.min(axis=0), by_channel.max(axis=0)])


def dead_in_floats(
    network: Network, parameters: Mapping[str, Encoding | AxisEncoding]
) -> Iterator[DeadChannels]:
    """Yield for each weight with dead channels how many of them are not dead in floats."""
    layers = (layer for layer in network.layers if isinstance(layer, Weighted))
    for weight in dict.fromkeys(layer.weight for layer in layers):
        values = network.constants[weight].finite().astype(np.float32, copy=False)
        if weight not in parameters or not values.size:
            continue
        dead = dead_channels(values, parameters[weight])
        if dead.any():
            reach = np.abs(values.reshape(-1, values.shape[-1])).max(axis=0)
            lost = reach[dead & (reach > NEGLIGIBLE * reach.max())]
            yield DeadChannels(weight, int(lost.size), float(lost.max(initial=0.0)))


def finding_of_dead(
    layer: Weighted,
    dead: npt.NDArray[np.bool_],
    in_floats: DeadChannels | None,
    *,
    by_channel: bool,
) -> Loss:
    """Return the finding about the channels `dead`; `in_floats` None means floats are unknown."""
    count = int(np.count_nonzero(dead))
    remedy = (
        "correct its override" if by_channel else f"quantise with {spelled('axis_weights', True)}"
    )
    share = count / dead.size
    if in_floats is None:
        then = f"where the float weights are not zero, {remedy}"
    elif in_floats.lost:
        share = min(1.0, in_floats.lost / dead.size)
        then = (
            f"in floats, weights of {in_floats.lost} of these reach {in_floats.reach:.2g}; {remedy}"
        )
    else:
        share = 0.0
        then = "they are dead in floats too, and can be taken out of the network"
    return Loss(
        kind="dead channels",
        layer=layer.name,
        tensor=layer.weight,
        share=share,
        sentence=f"{count} of {dead.size} output channels of layer '{layer.name}' "
        f"{'is' if count == 1 else 'are'} dead, all their codes in weight '{layer.weight}' stand "
        f"for zero: {then}",
    )


SATURATED_RATIO = 2.0
"""Factor by which weights exceed their encoding before it is reported.

Rules that search for ranges cut off less than this on purpose (our choice)."""

COARSE = 2.0
"""Steps of a layer's output in a step of its bias, beyond which a bias may shift all values of a
channel by more than a code, as coarse as rounding each of them twice over (our choice)."""

_GATE_STEP = 2.0**-12
"""Step of the sums before the gates of a recurrent layer (docs/reference/arithmetic.md)."""
_GATE_STEPS = 256
"""Steps of the gates in the range of the states, below which results have fewer steps than codes of
8 bits, whatever the width of the codes (our choice)."""

_ACCUMULATOR = 2.0**31
"""Limit of an int32, in steps of the accumulator."""

Activations = Mapping[str, Encoding]
Parameters = Mapping[str, Encoding | AxisEncoding]


def weight_findings(
    network: Network,
    activations: Activations,
    parameters: Parameters,
    evidence: Evidence,
    codes: Mapping[str, Constant],
) -> Iterator[Loss]:
    """Yield the losses of weights, layer by layer.

    `codes` has the codes of weights whose values are those of the codes, which is quicker to see.
    """
    in_floats = {channels.weight: channels for channels in evidence.dead}
    for layer in network.layers:
        if not isinstance(layer, Weighted) or layer.weight not in parameters:
            continue
        encoding = parameters[layer.weight]
        if not network.constants[layer.weight].elements:
            continue
        if layer.weight in codes:
            dead = dead_codes(codes[layer.weight].value(), encoding)
        else:
            values = network.constants[layer.weight].finite().astype(np.float32, copy=False)
            ends = extremes(values)
            yield from _saturated(layer, values, ends, encoding)
            dead = dead_channels(ends, encoding)
        if dead.any():
            by_channel = isinstance(encoding, AxisEncoding)
            yield finding_of_dead(layer, dead, in_floats.get(layer.weight), by_channel=by_channel)
        small = _have_small_steps(layer, network, activations, parameters) & ~dead
        if small.any():
            yield _of_small_steps(layer, small)


def bias_findings(
    network: Network, activations: Activations, parameters: Parameters
) -> Iterator[Loss]:
    """Yield one finding about all biases whose codes are coarse beside those of the outputs."""
    ratios = {}
    for layer in network.layers:
        bias = parameters.get(layer.bias or "") if isinstance(layer, Weighted) else None
        if isinstance(bias, Encoding) and layer.outputs[0] in activations:
            ratios[layer] = bias.delta / activations[layer.outputs[0]].delta
    coarse = [layer for layer, ratio in ratios.items() if ratio > COARSE]
    if not coarse:
        return
    worst = max(coarse, key=lambda layer: ratios[layer])
    ratio, others = ratios[worst], len(coarse) - 1
    also = f" (so are those of {others} other layer{'s' * (others > 1)})" if others else ""
    yield Loss(
        kind="coarse biases",
        layer=worst.name,
        tensor=worst.parameters[1],
        share=len(coarse) / len(ratios),
        sentence=f"8 bits are coarse for the bias of layer '{worst.name}'{also}: a step of it is "
        f"{ratio:.3g} steps of the output, so a channel may be off by up to {ratio / 2:.3g} codes; "
        f"quantise with {spelled('bias_bits', 32)}",
    )


def _coarse_gates(network: Network, activations: Activations) -> Iterator[Loss]:
    """Yield the recurrent layers whose states are small beside the steps of their gates."""
    for layer in network.layers:
        output = activations.get(layer.outputs[0]) if isinstance(layer, Recurrent) else None
        if output is None or output.max - output.min >= _GATE_STEPS * _GATE_STEP:
            continue
        steps = (output.max - output.min) / _GATE_STEP
        yield Loss(
            kind="coarse gates",
            layer=layer.name,
            tensor=layer.outputs[0],
            share=max(0.0, 1.0 - steps / _GATE_STEPS),
            sentence=f"the states of recurrent layer '{layer.name}' lie in {output.min:.3g} to "
            f"{output.max:.3g}, {steps:.3g} steps of its gates, which integer runtimes compute in "
            "steps of 2^-12 whatever the width of the codes; run it on cpu or gpu, or keep it in "
            "floats with overrides",
        )


def _saturated(
    layer: Weighted, values: FloatArray, ends: FloatArray, encoding: Encoding | AxisEncoding
) -> Iterator[Loss]:
    """Yield a finding if weights reach far beyond their encoding, which an override can cause.

    `ends` are the smallest and the largest value of each channel.
    """
    channels = encoding.channels if isinstance(encoding, AxisEncoding) else (encoding,)
    low = SATURATED_RATIO * np.array([channel.min for channel in channels])
    high = SATURATED_RATIO * np.array([channel.max for channel in channels])
    if not ((ends < low) | (ends > high)).any():
        return
    beyond = np.count_nonzero((values < low / SATURATED_RATIO) | (values > high / SATURATED_RATIO))
    yield Loss(
        kind="saturated weights",
        layer=layer.name,
        tensor=layer.weight,
        share=beyond / values.size,
        sentence=f"{beyond} of {values.size} values of weight '{layer.weight}' of layer "
        f"'{layer.name}' lie beyond its encoding, the farthest at "
        f"{float(np.abs(values).max()):.3g}, and are cut off; correct its override",
    )


def _have_small_steps(
    layer: Weighted, network: Network, activations: Activations, parameters: Parameters
) -> npt.NDArray[np.bool_]:
    """Return which channels have a bias that exceeds an int32 in steps of their products.

    The arithmetic then takes a larger step (hexsim.lowering.headroom). It may do so for a zero
    point as well, which depends on what is fused; that is left out here.
    """
    encoding, x = parameters[layer.weight], activations.get(layer.inputs[0])
    channels = network.constants[layer.weight].shape[-1]
    if layer.bias is None or x is None:
        return np.zeros(channels, np.bool_)
    steps = encoding.deltas if isinstance(encoding, AxisEncoding) else np.array([encoding.delta])
    bias = network.constants[layer.bias].finite().astype(np.float32, copy=False)
    coded = parameters.get(layer.bias)
    if coded is not None:
        bias = coded.dequantize(coded.quantize(bias))
    small = np.abs(bias.astype(np.float64)) > _ACCUMULATOR * x.delta * steps
    return np.broadcast_to(small, (channels,))


def _of_small_steps(layer: Weighted, small: npt.NDArray[np.bool_]) -> Loss:
    count = np.count_nonzero(small)
    return Loss(
        kind="steps too small",
        layer=layer.name,
        tensor=layer.weight,
        share=count / small.size,
        sentence=f"{count} of {small.size} output channels of layer '{layer.name}' have steps in "
        f"weight '{layer.weight}' in which their bias exceeds an int32: their weights are coded "
        "anew in larger steps; correct its override",
    )


def findings(
    network: Network,
    activations: Mapping[str, Encoding],
    parameters: Mapping[str, Encoding | AxisEncoding],
    evidence: Evidence = NO_EVIDENCE,
    codes: Mapping[str, Constant] = MappingProxyType({}),
) -> tuple[Loss, ...]:
    """Return what is lost for certain, the largest share first, then in the layers' order.

    `codes` has the weights of a file that holds codes alone.
    """
    losses = [
        *_joined(network, activations, evidence),
        *_unused(network, activations, evidence),
        *weight_findings(network, activations, parameters, evidence, codes),
        *bias_findings(network, activations, parameters),
        *_coarse_gates(network, activations),
    ]
    places = {layer.name: place for place, layer in enumerate(network.layers)}
    order = sorted(losses, key=lambda finding: (-finding.share, places.get(finding.layer, -1)))
    return tuple(order)


def _joined(
    network: Network, activations: Mapping[str, Encoding], evidence: Evidence
) -> Iterator[Loss]:
    """Yield operands of a concat that lose most values by counts, or all of them by encodings."""
    counted = {(survival.layer, survival.tensor): survival for survival in evidence.survivals}
    for layer in network.layers:
        joined = activations.get(layer.outputs[0]) if isinstance(layer, Concat) else None
        if joined is None:
            continue
        for name in dict.fromkeys(_before_conversion(network, operand) for operand in layer.inputs):
            encoding = activations.get(name)
            survival = counted.get((layer.name, name))
            if encoding is None or not (survival or _below_a_step(encoding, joined)):
                continue
            reach = max(-encoding.min, encoding.max)
            what = _survivors(survival, layer) if survival else _vanishing(network, name, layer)
            yield Loss(
                kind="joined below a step",
                layer=layer.name,
                tensor=name,
                share=1.0 - survival.surviving / survival.values if survival else 1.0,
                sentence=f"{what}: they reach {reach:.3g}, and a step of '{layer.outputs[0]}' "
                f"is {joined.delta:.3g}; convert with the tensors before it as outputs "
                f"({spelled('output_names')}), or quantise with {spelled('activation_bits', 16)}",
            )


def _before_conversion(network: Network, name: str) -> str:
    """Return the tensor that a Convert layer before a concat reads, else the operand itself."""
    layer = network.producers.get(name)
    return layer.inputs[0] if isinstance(layer, Convert) else name


def _survivors(survival: Survival, layer: Layer) -> str:
    where = layer.outputs[0]
    by = "" if layer.name == where else f" of layer '{layer.name}'"
    return (
        f"of {survival.values} values of '{survival.tensor}' whose codes are not zero on the first "
        f"calibration input, {survival.surviving} survive in '{where}'{by}"
    )


def _vanishing(network: Network, name: str, layer: Layer) -> str:
    constant = network.constants.get(name)
    shape = network.tensors[name].shape if constant is None else constant.shape
    return f"all {prod(shape)} values of '{name}' become zero in layer '{layer.name}'"


def _below_a_step(encoding: Encoding, joined: Encoding) -> bool:
    """Return True if every value of `encoding` is zero in `joined`.

    An encoding of the smallest range proves nothing: the tensor may be zero everywhere.
    """
    if encoding.max - encoding.min <= MINIMUM_RANGE * 1.001:
        return False
    limits = np.array([encoding.min, encoding.max])
    return bool((joined.quantize(limits) == joined.zero_point).all())


def _unused(
    network: Network, activations: Mapping[str, Encoding], evidence: Evidence
) -> Iterator[Loss]:
    """Yield activations whose values use few of their codes."""
    for unused in evidence.unused_ranges:
        encoding = activations.get(unused.tensor)
        if encoding is None:
            continue
        span = max(0.0, unused.high) - min(0.0, unused.low)
        used, codes = round(span / encoding.delta) + 1, encoding.steps + 1
        layer = network.producers.get(unused.tensor)
        yield Loss(
            kind="unused range",
            layer=unused.tensor if layer is None else layer.name,
            tensor=unused.tensor,
            share=max(0.0, 1.0 - used / codes),
            sentence=f"'{unused.tensor}' uses {used} of {codes} codes: calibration saw "
            f"{unused.low:.3g} to {unused.high:.3g}, and its encoding reaches from "
            f"{encoding.min:.3g} to {encoding.max:.3g}; correct its override, "
            f"or, if it has none, quantise with {spelled('activation_bits', 16)}",
        )
