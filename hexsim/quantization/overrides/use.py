"""One line about the overrides of a float file that a command quantised by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hexsim.errors import spelled
from hexsim.quantization.overrides.outcome import KeyOutcome
from hexsim.quantization.overrides.override import Overrides


@dataclass(frozen=True)
class OverrideUse:
    """How many overrides a file holds, and how many had each outcome; all 0 if not applied."""

    held: int
    applied: int = 0
    ignored: int = 0
    unmatched: int = 0

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
