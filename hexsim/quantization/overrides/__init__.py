"""Overrides: encodings that the user gives, in a JSON file or as nodes of the ONNX file.

`apply` turns an override into an encoding or explains why this is impossible.

The outcome of each override, from which reports are made.

One line about the overrides of a float file that a command quantised by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, get_args

from annotated_types import Interval

from hexsim.errors import spelled
from hexsim.graph.domains import UNSTORED, Factor, Positive, Real
from hexsim.quantization.encodings import SMALLEST_STEP, FloatBits
from hexsim.records import dataclass, field, replace
from hexsim.texts.fields import Part, about

_LARGEST_CODE = 2**32 - 1
"""The largest code of 32 bits, the widest that an override may request."""

Offset = Annotated[int, Interval(ge=-_LARGEST_CODE, le=_LARGEST_CODE)]
"""A code, of either sign: symmetric codes of 32 bits have -2^31."""
Bits = Annotated[int, Interval(ge=1, le=32)]
"""The width of a code that an override may request."""
Section = Literal["activation", "parameter"]

OverrideSource = Literal["override", "QDQ node"]
"""Where an override came from: a file of the user, or nodes of the ONNX file."""


def is_overridden(origin: str | None) -> bool:
    """Return True if the origin of an encoding says that an override gave it."""
    return origin in get_args(OverrideSource)


@dataclass(frozen=True)
class Range:
    """The numbers given for a tensor, or for one channel of it.

    They are `min` and `max` in real units, or `scale` (real units per code) and `offset` with
    real = scale * (q + offset), q counted from 0, or all four. An offset may have either sign.
    """

    min: Real | None = None
    max: Real | None = None
    scale: Real | None = None
    offset: Offset | None = None

    def fault(self) -> str | None:
        """Return what is wrong with the numbers, or None."""
        for name in ("min", "max", "scale"):
            number = getattr(self, name) or 0.0
            if (number and abs(number) < SMALLEST_STEP) or (name == "scale" and number < 0):
                return f"has the {name} {number:g}"
        return None


@dataclass(frozen=True)
class IntegerOverride:
    """An integer code of `bitwidth` bits with one range, or with one range per channel.

    Without any numbers the range is calibrated. `symmetric` is None if the user did not specify
    it.
    """

    bitwidth: Bits
    ranges: tuple[Range, ...]
    symmetric: bool | None = None
    source: OverrideSource = "override"

    def fault(self) -> str | None:
        """Return what is wrong with the ranges together, or None."""
        return None if self.ranges else "has no range, not even an empty one"

    @property
    def per_channel(self) -> bool:
        """True if every channel has a range of its own."""
        return len(self.ranges) > 1

    @property
    def unranged(self) -> bool:
        """True if only the width is given."""
        return all(range_ == Range() for range_ in self.ranges)


@dataclass(frozen=True)
class FloatOverride:
    """The tensor stays float, with 16 or 32 bits, or None if the user did not specify them."""

    float_bitwidth: FloatBits | None
    source: OverrideSource = "override"


@dataclass(frozen=True)
class BlockOverride:
    """A weight of `bitwidth` bits in blocks of `block_size` input channels (LPBQ).

    `scales` are the steps of the channels in real units, and `multiples` the whole scales of their
    blocks, block after block and channel after channel. Codes have `decompressed_bitwidth` bits.
    """

    bitwidth: Bits
    decompressed_bitwidth: Bits
    block_size: Positive
    scales: tuple[Factor, ...]
    multiples: tuple[Positive, ...]
    source: OverrideSource = "override"


Override = IntegerOverride | FloatOverride | BlockOverride


@dataclass(frozen=True)
class TensorOverride:
    """An override of a file that does not say whether the tensor is a parameter.

    `axis` is the axis of the channels in the ONNX file, or None if the file does not state it.
    """

    override: Override
    axis: int | None = None


@dataclass(frozen=True)
class Overrides:
    """All overrides of a network.

    `activations` by the name of the tensor that an ONNX node writes, or of an input;
    `parameters` by the name of the initialiser. Optimising the network may remove the tensor of a
    key: `renamed` maps the key to the tensor that now holds the values, `absorbed` maps it to the
    layer that took the tensor over, or to an empty string if there is none. `rearranged` maps a
    constant to the key whose numbers it has in another shape or order, and `inside` a tensor that
    is no key to the output of the operator that computes with it. `folded` has
    the factors, one or one per channel, of parameters that conversion multiplied; there are none
    if it changed them otherwise. `unassigned` are of a file without sections;
    `hexsim.quantization.overrides.targets` sorts them by a network.
    """

    activations: Mapping[str, Override] = field(default_factory=dict)
    parameters: Mapping[str, Override] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    absorbed: Mapping[str, str] = field(default_factory=dict)
    rearranged: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, str] = field(default_factory=dict)
    folded: Mapping[str, tuple[Real, ...]] = field(default_factory=dict)
    unassigned: Mapping[str, TensorOverride] = field(default_factory=dict, metadata=UNSTORED)

    def __len__(self) -> int:
        return len(self.activations) + len(self.parameters) + len(self.unassigned)

    def sections(self) -> tuple[tuple[Section, Mapping[str, Override]], ...]:
        """Both sections with their names."""
        return ("activation", self.activations), ("parameter", self.parameters)

    def of_nodes(self) -> Overrides:
        """Return the overrides that nodes of the ONNX file gave."""
        from_nodes = {
            section: {key: value for key, value in keys.items() if value.source == "QDQ node"}
            for section, keys in self.sections()
        }
        if not any(from_nodes.values()):
            return NO_OVERRIDES
        activations, parameters = from_nodes["activation"], from_nodes["parameter"]
        return replace(self, activations=activations, parameters=parameters, unassigned={})

    def over(self, other: Overrides) -> Overrides:
        """Return these overrides and those of `other`; for a key of both, these hold."""
        return Overrides(
            {**other.activations, **self.activations},
            {**other.parameters, **self.parameters},
            {**other.renamed, **self.renamed},
            {**other.absorbed, **self.absorbed},
            {**other.rearranged, **self.rearranged},
            {**other.inside, **self.inside},
            {**other.folded, **self.folded},
            {**other.unassigned, **self.unassigned},
        )


NO_OVERRIDES = Overrides()
"""Overrides without any keys."""


Outcome = Literal["applied", "ignored", "unmatched"]


@dataclass(frozen=True)
class KeyOutcome:
    """The outcome of one key; `reason` says why it was ignored or what was changed, or is empty."""

    key: str
    section: Section
    source: OverrideSource
    outcome: Outcome
    reason: str = ""


class OverrideUse(Part, kw_only=False):
    """How many overrides a file holds, and how many had each outcome; all 0 if not applied."""

    held: Annotated[int, about("in the file")]
    applied: Annotated[int, about("applied")] = 0
    ignored: Annotated[int, about("ignored, with a reason")] = 0
    unmatched: Annotated[int, about("that name no tensor")] = 0

    @classmethod
    def of(cls, overrides: Overrides, outcomes: Iterable[KeyOutcome] = ()) -> OverrideUse | None:
        """Count the outcomes; return None if there are no overrides."""
        counts = Counter(key.outcome for key in outcomes)
        if not overrides:
            return None
        return cls(len(overrides), counts["applied"], counts["ignored"], counts["unmatched"])

    def __str__(self) -> str:
        if not self.applied + self.ignored + self.unmatched:
            return (
                f"overrides of the file not applied: {self.held} "
                f"({spelled('override_params', True)} applies them)"
            )
        return (
            f"overrides of the file: {self.applied} applied, {self.ignored} ignored, "
            f"{self.unmatched} unmatched"
        )
