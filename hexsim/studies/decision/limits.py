"""The limits that a user sets, and the sentence for a candidate outside them."""

from dataclasses import dataclass

from hexsim.errors import spelled
from hexsim.studies.decision.candidates import DecisionCandidate
from hexsim.texts.figures import figure


@dataclass(frozen=True)
class Limits:
    """The largest time, memory, energy and loss, and the smallest SQNR; None sets no limit.

    Loss is in percentage points of top-1 accuracy against float, or of agreement with float where
    there are no labels.
    """

    max_ms: float | None = None
    max_mb: float | None = None
    max_mj: float | None = None
    max_loss: float | None = None
    min_db: float | None = None

    @property
    def about_accuracy(self) -> bool:
        """True if a limit on loss or SQNR is set."""
        return self.max_loss is not None or self.min_db is not None

    def cost_beyond(self, candidate: DecisionCandidate) -> str | None:
        """Return why a candidate costs too much, or None; its answers need not be known."""
        if self.max_ms is not None and candidate.ms > self.max_ms:
            return f"{figure(candidate.ms)} ms, over {spelled('max_ms')} {self.max_ms:g}"
        if self.max_mb is not None and candidate.peak_mib > self.max_mb:
            return (
                f"{figure(candidate.peak_mib)} MiB at its peak, over "
                f"{spelled('max_mb')} {self.max_mb:g}"
            )
        if self.max_mj is not None and candidate.timed.energy_mj > self.max_mj:
            return (
                f"{figure(candidate.timed.energy_mj)} mJ, over {spelled('max_mj')} {self.max_mj:g}"
            )
        return None

    def worth_beyond(self, candidate: DecisionCandidate) -> str | None:
        """Return why the answers of a candidate are not good enough, or None."""
        loss, sqnr_db = candidate.loss, candidate.sqnr_db
        if self.max_loss is not None and loss is not None and loss > self.max_loss:
            return f"loses {figure(loss)} points, over {spelled('max_loss')} {self.max_loss:g}"
        if self.min_db is not None and sqnr_db is not None and sqnr_db < self.min_db:
            return f"{figure(sqnr_db)} dB, under {spelled('min_db')} {self.min_db:g}"
        return None
