"""What became of each override: the record that a report is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hexsim.quantization.overrides.override import OverrideSource, Section

Outcome = Literal["applied", "ignored", "unmatched"]


@dataclass(frozen=True)
class KeyOutcome:
    """One key, whether it was used, and why not or with what change; `reason` may be empty."""

    key: str
    section: Section
    source: OverrideSource
    outcome: Outcome
    reason: str = ""
