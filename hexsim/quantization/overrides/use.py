"""What became of the overrides of a float file that a command quantised by itself, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hexsim.quantization.overrides.outcome import KeyOutcome
from hexsim.quantization.overrides.override import Overrides


@dataclass(frozen=True)
class OverrideUse:
    """How many overrides a file holds, and how many of them met which fate; none if not asked."""

    held: int
    applied: int = 0
    ignored: int = 0
    unmatched: int = 0

    @classmethod
    def of(cls, held: Overrides, outcomes: Iterable[KeyOutcome] = ()) -> OverrideUse | None:
        """Sum up; None if there are no overrides to speak of."""
        counts = Counter(told.outcome for told in outcomes)
        if not held:
            return None
        return cls(len(held), counts["applied"], counts["ignored"], counts["unmatched"])

    def __str__(self) -> str:
        if not self.applied + self.ignored + self.unmatched:
            return (
                f"overrides of the file not applied: {self.held} (--override-params applies them)"
            )
        return (
            f"overrides of the file: {self.applied} applied, {self.ignored} ignored, "
            f"{self.unmatched} unmatched"
        )
