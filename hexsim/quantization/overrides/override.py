"""Override: what a user says about the encoding of one tensor, before anybody judges it.

Nothing is computed here; `apply` turns an override into an encoding or says why it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from annotated_types import Interval

from hexsim.graph.domains import Real
from hexsim.quantization.encodings import FloatBits

_LARGEST_CODE = 2**32 - 1
"""Of 32 bits, the widest that somebody may ask for."""

Offset = Annotated[int, Interval(ge=-_LARGEST_CODE, le=_LARGEST_CODE)]
"""A code, of either sign: symmetric codes of 32 bits have -2^31."""
Bits = Annotated[int, Interval(ge=1, le=32)]
"""The width of a code that somebody may ask for."""
Section = Literal["activation", "parameter"]

OverrideSource = Literal["override", "QDQ node"]
"""Where an override came from: a file of the user, or nodes of the ONNX file."""


@dataclass(frozen=True)
class Range:
    """The numbers given for a tensor, or for one channel of it.

    `min` and `max` in real units, or `scale` (real units per code) and `offset` with
    real = scale * (q + offset), q counted from 0, or all four. An offset may have either sign.
    """

    min: Real | None = None
    max: Real | None = None
    scale: Real | None = None
    offset: Offset | None = None


@dataclass(frozen=True)
class IntegerOverride:
    """An integer code of `bitwidth` bits with one range, or with one range per channel.

    Without any numbers the range is to be calibrated. `symmetric` is None where the user did not
    say.
    """

    bitwidth: Bits
    ranges: tuple[Range, ...]
    symmetric: bool | None = None
    source: OverrideSource = "override"

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
    """The tensor is to stay float, with 16 or 32 bits, None where the user did not say."""

    float_bitwidth: FloatBits | None
    source: OverrideSource = "override"


Override = IntegerOverride | FloatOverride


@dataclass(frozen=True)
class Overrides:
    """All overrides of a network.

    `activations` by the name of the tensor that an ONNX node writes, or of an input;
    `parameters` by the name of the initialiser. Of the keys whose tensor went when the network was
    optimised, `renamed` maps those whose values another tensor holds to that one, `absorbed` the
    others to the layer that computes with them inside, or to an empty string if none does.
    """

    activations: Mapping[str, Override] = field(default_factory=dict)
    parameters: Mapping[str, Override] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    absorbed: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.activations) + len(self.parameters)

    def sections(self) -> tuple[tuple[Section, Mapping[str, Override]], ...]:
        """Both sections with their names."""
        return ("activation", self.activations), ("parameter", self.parameters)

    def of_nodes(self) -> Overrides:
        """Those that nodes of the ONNX file gave."""
        mine = {
            section: {name: one for name, one in given.items() if one.source == "QDQ node"}
            for section, given in self.sections()
        }
        if not any(mine.values()):
            return NO_OVERRIDES
        return replace(self, activations=mine["activation"], parameters=mine["parameter"])

    def over(self, other: Overrides) -> Overrides:
        """These and those of `other`; where both speak of a tensor, these win."""
        return Overrides(
            {**other.activations, **self.activations},
            {**other.parameters, **self.parameters},
            {**other.renamed, **self.renamed},
            {**other.absorbed, **self.absorbed},
        )


NO_OVERRIDES = Overrides()
"""Nothing is given."""
