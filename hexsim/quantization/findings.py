"""Findings: certain losses of a quantised network, found without running it.

Encodings, shapes and weights prove most of them. Losses that depend on values are proven by the
counts of calibration (hexsim.quantization.evidence), which a file stores. So the findings are the
same before writing and after reading a file; without counts they are what encodings alone prove.
"""

from collections.abc import Iterator, Mapping
from math import prod
from types import MappingProxyType

import numpy as np

from hexsim.errors import spelled
from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import Concat, Convert
from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding, Encoding
from hexsim.quantization.evidence import NO_EVIDENCE, Evidence, Survival
from hexsim.quantization.finding import Finding
from hexsim.quantization.weight_findings import bias_findings, weight_findings

__all__ = ["Finding", "findings"]


def findings(
    network: Network,
    activations: Mapping[str, Encoding],
    parameters: Mapping[str, Encoding | AxisEncoding],
    evidence: Evidence = NO_EVIDENCE,
    codes: Mapping[str, Constant] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """Return what is lost for certain, the largest share first, then in the layers' order.

    `codes` has the weights of a file that holds codes alone.
    """
    losses = [
        *_joined(network, activations, evidence),
        *_unused(network, activations, evidence),
        *weight_findings(network, activations, parameters, evidence, codes),
        *bias_findings(network, activations, parameters),
    ]
    places = {layer.name: place for place, layer in enumerate(network.layers)}
    order = sorted(losses, key=lambda finding: (-finding.share, places.get(finding.layer, -1)))
    return tuple(order)


def _joined(
    network: Network, activations: Mapping[str, Encoding], evidence: Evidence
) -> Iterator[Finding]:
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
            yield Finding(
                "joined below a step",
                layer.name,
                name,
                1.0 - survival.surviving / survival.values if survival else 1.0,
                f"{what}: they reach {reach:.3g}, and a step of '{layer.outputs[0]}' "
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
) -> Iterator[Finding]:
    """Yield activations whose values use few of their codes."""
    for unused in evidence.unused_ranges:
        encoding = activations.get(unused.tensor)
        if encoding is None:
            continue
        span = max(0.0, unused.high) - min(0.0, unused.low)
        used, codes = round(span / encoding.delta) + 1, encoding.steps + 1
        layer = network.producers.get(unused.tensor)
        yield Finding(
            "unused range",
            unused.tensor if layer is None else layer.name,
            unused.tensor,
            max(0.0, 1.0 - used / codes),
            f"'{unused.tensor}' uses {used} of {codes} codes: calibration saw {unused.low:.3g} to "
            f"{unused.high:.3g}, and its encoding reaches from {encoding.min:.3g} to "
            f"{encoding.max:.3g}; correct its override, or, if it has none, quantise with "
            f"{spelled('activation_bits', 16)}",
        )
