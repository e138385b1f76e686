"""Findings: what the encodings of a quantised network lose for certain, told without running it.

Only what encodings, shapes and weights prove is told, so nothing here needs calibration inputs,
and a file that was read says of its joined tensors what it said when it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from hexsim.graph.ir import Network
from hexsim.layers import Concat, Weighted
from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding, Encoding

FindingKind = Literal["joined below a step", "saturated weights"]

SATURATED_RATIO = 2.0
"""How far weights reach beyond their encoding before it is told, as a factor: rules that search
for ranges cut off less on purpose (our choice)."""


@dataclass(frozen=True)
class Finding:
    """One loss: its kind, the layer, the tensor or weight, the `share` lost, and the sentence."""

    kind: FindingKind
    layer: str
    tensor: str
    share: float
    sentence: str


def findings(
    network: Network,
    activations: Mapping[str, Encoding],
    parameters: Mapping[str, Encoding | AxisEncoding],
) -> tuple[Finding, ...]:
    """Return what is lost for certain, the largest share first, then in the layers' order."""
    told = [*_joined(network, activations), *_saturated(network, parameters)]
    return tuple(sorted(told, key=lambda finding: -finding.share))


def _joined(network: Network, activations: Mapping[str, Encoding]) -> Iterator[Finding]:
    """Operands of a concat all of whose values lie within half a step of the output's zero."""
    for layer in network.layers:
        joined = activations.get(layer.outputs[0]) if isinstance(layer, Concat) else None
        if joined is None:
            continue
        for name in dict.fromkeys(layer.inputs):
            encoding = activations.get(name)
            if encoding is None or not _below_a_step(encoding, joined):
                continue
            constant = name in network.constants
            shape = network.constants[name].shape if constant else network.tensors[name].shape
            reach = max(-encoding.min, encoding.max)
            yield Finding(
                "joined below a step",
                layer.name,
                name,
                1.0,
                f"all {prod(shape)} values of '{name}' become zero in layer '{layer.name}': they "
                f"reach {reach:.3g}, and a step of the output '{layer.outputs[0]}' is "
                f"{joined.delta:.3g}; convert with the tensors before it as outputs "
                "(--out-name), or quantise with --act-bitwidth 16",
            )


def _below_a_step(encoding: Encoding, joined: Encoding) -> bool:
    """True if every value of `encoding` is zero in `joined`.

    An encoding of the least range says nothing: the tensor may well be zero everywhere.
    """
    if encoding.max - encoding.min <= MINIMUM_RANGE * 1.001:
        return False
    ends = np.array([encoding.min, encoding.max])
    return bool((joined.quantize(ends) == joined.zero_point).all())


def _saturated(
    network: Network, parameters: Mapping[str, Encoding | AxisEncoding]
) -> Iterator[Finding]:
    """Weights that reach far beyond their encoding, as an override can ask for."""
    for layer in network.layers:
        if not isinstance(layer, Weighted) or layer.weight not in parameters:
            continue
        encoding = parameters[layer.weight]
        channels = encoding.channels if isinstance(encoding, AxisEncoding) else (encoding,)
        values = network.constants[layer.weight].finite().astype(np.float32, copy=False)
        low = SATURATED_RATIO * np.array([channel.min for channel in channels])
        high = SATURATED_RATIO * np.array([channel.max for channel in channels])
        if not ((values < low) | (values > high)).any():
            continue
        beyond = np.count_nonzero(
            (values < low / SATURATED_RATIO) | (values > high / SATURATED_RATIO)
        )
        yield Finding(
            "saturated weights",
            layer.name,
            layer.weight,
            beyond / values.size,
            f"{beyond} of {values.size} values of weight '{layer.weight}' of layer "
            f"'{layer.name}' lie beyond its encoding, the farthest at "
            f"{float(np.abs(values).max()):.3g}, and are cut off; correct its override",
        )
