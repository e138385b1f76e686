"""Limits: what a user allows, and the sentence for a candidate that is beyond."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.studies.decision.candidates import DecisionCandidate


@dataclass(frozen=True)
class Limits:
    """The most time, memory, energy and loss, and the least SQNR; None allows anything.

    Loss is in percentage points of top-1 against float, or without labels of agreement with it.
    """

    max_ms: float | None = None
    max_mb: float | None = None
    max_mj: float | None = None
    max_loss: float | None = None
    min_db: float | None = None

    @property
    def about_accuracy(self) -> bool:
        """True if one of them is."""
        return self.max_loss is not None or self.min_db is not None

    def cost_beyond(self, one: DecisionCandidate) -> str | None:
        """Why a candidate costs too much, as far as that is known before its answers are."""
        if self.max_ms is not None and one.ms > self.max_ms:
            return f"{one.ms:.4g} ms, over --max-ms {self.max_ms:g}"
        if self.max_mb is not None and one.peak_mib > self.max_mb:
            return f"{one.peak_mib:.4g} MiB at its peak, over --max-mb {self.max_mb:g}"
        if self.max_mj is not None and one.timed.energy_mj > self.max_mj:
            return f"{one.timed.energy_mj:.4g} mJ, over --max-mj {self.max_mj:g}"
        return None

    def worth_beyond(self, one: DecisionCandidate) -> str | None:
        """Why the answers of a candidate are not good enough."""
        if self.max_loss is not None and one.loss is not None and one.loss > self.max_loss:
            return f"loses {one.loss:.4g} points, over --max-loss {self.max_loss:g}"
        sqnr_db = one.accuracy.sqnr_db if one.accuracy else None
        if self.min_db is not None and sqnr_db is not None and sqnr_db < self.min_db:
            return f"{sqnr_db:.4g} dB, under --min-db {self.min_db:g}"
        return None
