"""Schemas: how an encoding spans a range, and how its codes (quantised values) are stored.

| schema | encoding |
| --- | --- |
| asymmetric | from the low to the high end, zero a code |
| symmetric | around zero, as far as the farther end; half of the codes are negative |
| unsignedsymmetric | symmetric, but asymmetric if no value is negative (AIMET; documented) |

Weights store symmetric codes signed. Activations always store them unsigned, with the offset of the
middle code, because kernels take unsigned activations.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.min_max import MinMax
from hexsim.quantization.rules.rule import EncodingRule
from hexsim.quantization.rules.symmetric import Symmetric


def spanning(
    low: float, high: float, bits: int, minimum_range: float, *, symmetric: bool
) -> Encoding:
    """Return the encoding of [low, high], in real units, in one of the first two schemas."""
    rule = (Symmetric if symmetric else MinMax)(bits, minimum_range)
    return rule.encode(Observation(low, high))


@dataclass(frozen=True)
class Spanning:
    """A rule that chooses the ends of a range from a histogram, in one of the first two schemas."""

    needs_histogram: ClassVar[bool] = True

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE
    symmetric: bool = False

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding of the range between both ends."""
        low, high = self.ends(seen)
        return spanning(low, high, self.bits, self.minimum_range, symmetric=self.symmetric)

    def ends(self, seen: Observation) -> tuple[float, float]:
        """Return the low and the high end of the range, in real units."""
        raise NotImplementedError


@dataclass(frozen=True)
class UnsignedSymmetric:
    """The rule `unsigned` for tensors without negative values, else the rule `signed`."""

    signed: EncodingRule
    unsigned: EncodingRule

    @property
    def needs_histogram(self) -> bool:
        """Whether one of the two rules needs one."""
        return self.signed.needs_histogram or self.unsigned.needs_histogram

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding by the rule for such values."""
        return (self.signed if seen.low < 0 else self.unsigned).encode(seen)


@dataclass(frozen=True)
class UnsignedCodes:
    """A rule for activations: symmetric codes are stored unsigned."""

    rule: EncodingRule

    @property
    def needs_histogram(self) -> bool:
        """Whether the rule needs one."""
        return self.rule.needs_histogram

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding by the rule, with unsigned codes."""
        return replace(self.rule.encode(seen), symmetric=False)
