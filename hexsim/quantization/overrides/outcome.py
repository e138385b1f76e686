"""The outcome of each override, from which reports are made."""

from dataclasses import dataclass
from typing import Literal

from hexsim.quantization.overrides.override import OverrideSource, Section

Outcome = Literal["applied", "ignored", "unmatched"]


@dataclass(frozen=True)
class KeyOutcome:
    """The outcome of one key; `reason` says why it was ignored or what was changed, or is empty."""

    key: str
    section: Section
    source: OverrideSource
    outcome: Outcome
    reason: str = ""
