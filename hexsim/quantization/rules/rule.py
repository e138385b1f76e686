"""EncodingRule: the interface between the quantiser and its modes.

The default ("tf") mode spans the entire range. A symmetric step is limit / (2^(bits-1) - 1), from
-2^(bits-1) to 2^(bits-1) - 1 steps (SNPE guide's three-channel example and AIMET's non-strict
symmetric rule; documented). AIMET 2.42 also uses the lowest code where the largest magnitude is
negative; that is left out.

Schemas say how an encoding spans a range: from end to end, around zero, or around zero but for a
tensor without negative values (docs/concepts/quantisation.md). Weights store symmetric codes
signed; activations always store them unsigned, because kernels take unsigned activations.
"""

from typing import ClassVar, Protocol

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Observation
from hexsim.records import dataclass, replace


class EncodingRule(Protocol):
    """One way to choose an encoding.

    Rules are frozen dataclasses; their fields are choices such as bits and smallest range.
    """

    @property
    def needs_histogram(self) -> bool:
        """Whether `encode` needs a histogram besides the range."""

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding of a tensor with this observation."""


@dataclass(frozen=True)
class MinMax:
    """The asymmetric rule over [low, high], with the formula of `Encoding.from_range`."""

    needs_histogram: ClassVar[bool] = False

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding that spans all values, zero and at least the minimum range."""
        return Encoding.from_range(seen.low, seen.high, self.bits, self.minimum_range)


@dataclass(frozen=True)
class Symmetric:
    """The symmetric rule over the largest magnitude."""

    needs_histogram: ClassVar[bool] = False

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding that spans the largest magnitude."""
        return Encoding.symmetric_of(self.limit(seen), self.bits)

    def limit(self, seen: Observation) -> float:
        """Return the largest magnitude, after raising the upper end to the minimum range."""
        low, high = min(0.0, seen.low), max(0.0, seen.high)
        return max(-low, high, low + self.minimum_range)


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
