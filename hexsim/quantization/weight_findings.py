"""Findings about weights and biases: values beyond encodings, dead channels, wrong sizes of steps.

They follow from encodings and extremes, or from codes (quantised values) if a file stores only
those, so that they are the same before writing and after reading a file.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from hexsim.errors import spelled
from hexsim.graph.ir import Constant, FloatArray, Network
from hexsim.layers import Weighted
from hexsim.quantization.dead_channels import dead_channels, dead_codes, extremes, finding_of_dead
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence import Evidence
from hexsim.quantization.finding import Finding

SATURATED_RATIO = 2.0
"""Factor by which weights exceed their encoding before it is reported.

Rules that search for ranges cut off less than this on purpose (our choice)."""

COARSE = 2.0
"""Steps of a layer's output in a step of its bias, beyond which a bias may shift all values of a
channel by more than a code, as coarse as rounding each of them twice over (our choice)."""

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
) -> Iterator[Finding]:
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
) -> Iterator[Finding]:
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
    yield Finding(
        "coarse biases",
        worst.name,
        worst.parameters[1],
        len(coarse) / len(ratios),
        f"8 bits are coarse for the bias of layer '{worst.name}'{also}: a step of it is "
        f"{ratio:.3g} steps of the output, so a channel may be off by up to {ratio / 2:.3g} codes; "
        f"quantise with {spelled('bias_bits', 32)}",
    )


def _saturated(
    layer: Weighted, values: FloatArray, ends: FloatArray, encoding: Encoding | AxisEncoding
) -> Iterator[Finding]:
    """Yield a finding if weights reach far beyond their encoding, which an override can cause.

    `ends` are the smallest and the largest value of each channel.
    """
    channels = encoding.channels if isinstance(encoding, AxisEncoding) else (encoding,)
    low = SATURATED_RATIO * np.array([channel.min for channel in channels])
    high = SATURATED_RATIO * np.array([channel.max for channel in channels])
    if not ((ends < low) | (ends > high)).any():
        return
    beyond = np.count_nonzero((values < low / SATURATED_RATIO) | (values > high / SATURATED_RATIO))
    yield Finding(
        "saturated weights",
        layer.name,
        layer.weight,
        beyond / values.size,
        f"{beyond} of {values.size} values of weight '{layer.weight}' of layer "
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


def _of_small_steps(layer: Weighted, small: npt.NDArray[np.bool_]) -> Finding:
    count = np.count_nonzero(small)
    return Finding(
        "steps too small",
        layer.name,
        layer.weight,
        count / small.size,
        f"{count} of {small.size} output channels of layer '{layer.name}' have steps in weight "
        f"'{layer.weight}' in which their bias exceeds an int32: their weights are coded anew in "
        "larger steps; correct its override",
    )
