"""Findings: losses of a quantised network; evidence: the counts that prove them, also in a file.

Encodings show what can be lost, and values show what was lost. The values of activations are not
available after calibration, nor the float weights after quantisation, so the counts that prove a
loss are recorded before. A network without losses has no records.

Dead channels: output channels whose weights are all quantised to zero, so they give their bias.

A file of quantised weights does not show whether the channels were dead in floats too. So this is
counted when the network is quantised, and recorded as evidence.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hexsim.errors import spelled
from hexsim.graph.domains import Count, Natural, Real
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Weighted
from hexsim.quantization.encodings import AxisEncoding, Encoding

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
]


class Told(Protocol):
    """A finding, or its part of a document."""

    @property
    def sentence(self) -> str:
        """What is lost, where, and what to do about it."""


@dataclass(frozen=True)
class Finding:
    """One loss: its kind, the layer, the tensor or weight, the `share` lost, and the sentence.

    Sections that cost time concern no tensor; their share is one of the time.
    """

    kind: FindingKind
    layer: str
    tensor: str
    share: float
    sentence: str


def sentences(findings: Iterable[Told]) -> Iterator[str]:
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
) -> Finding:
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
    return Finding(
        "dead channels",
        layer.name,
        layer.weight,
        share,
        f"{count} of {dead.size} output channels of layer '{layer.name}' are dead, all their "
        f"codes in weight '{layer.weight}' stand for zero: {then}",
    )
