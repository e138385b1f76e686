"""Candidates: one mode on one chip, runtime and cut, with what it costs and is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hexsim.runtimes import Runtime
from hexsim.studies.decision.modes import Mode

Cut = Literal["", "none", "automatic", "fastest"]
"""Which HTA sections: there is no choice, none, those of the compiler, the fastest ones."""


@dataclass(frozen=True)
class Timed:
    """What one inference takes, as simulated.

    `sections` are those of `cut` as `--hta-partitions` takes them. `file_bytes` are the parameters
    in the file, `peak_bytes` what the inference needs of memory at once. `energy_mj` is what it
    spends, between the two others. `values` stands for what decides the answers besides the mode:
    two with the same give the same ones.
    """

    cut: Cut
    sections: str
    total_us: float
    forward_us: float
    init_us: float
    file_bytes: int
    peak_bytes: int
    energy_mj: float
    energy_low_mj: float
    energy_high_mj: float
    values: str


@dataclass(frozen=True)
class CandidateAccuracy:
    """How the answers agree with float, as `hexsim validate` counts it.

    Those against labels are None without labels; `sqnr_db` is None without any noise. `worst` are
    the layers that add most noise, as the tensors that they write, most first.
    """

    inputs: int
    same_top1: int
    runtime_top1: int | None
    float_top1: int | None
    sqnr_db: float | None
    worst: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrawnTotals:
    """Total times in us with all constants in doubt drawn at once; the ends hold nine in ten."""

    low_us: float
    high_us: float
    us: tuple[float, ...]


@dataclass(frozen=True)
class DecisionCandidate:
    """A mode on a runtime of a chip, cut in some way; `order` tells the plainer of two modes.

    `loss` are percentage points of top-1 that it is worse than float, or of agreement with float;
    None if the network is no classifier. `in_front` says that no other is at least as good in
    everything. `drawn` is there for the heads of the first places alone.
    """

    mode: Mode
    order: int
    chip: str
    stack: str
    runtime: Runtime
    timed: Timed
    accuracy: CandidateAccuracy | None = None
    loss: float | None = None
    in_front: bool = False
    drawn: DrawnTotals | None = None

    @property
    def ms(self) -> float:
        """One inference as the application sees it."""
        return self.timed.total_us / 1e3

    @property
    def peak_mib(self) -> float:
        """Memory at its peak."""
        return self.timed.peak_bytes / 2**20

    @property
    def place(self) -> tuple[str, Runtime, Cut]:
        """Chip, runtime and cut."""
        return self.chip, self.runtime, self.timed.cut

    @property
    def where(self) -> str:
        """Chip, runtime and cut in words."""
        cut = f" ({self.timed.cut} cut)" if self.timed.cut else ""
        return f"{self.chip} {self.runtime}{cut}"


@dataclass(frozen=True)
class RuledOut:
    """What is out, and why: a mode on a runtime of a chip. `limit` if it would have worked."""

    mode: str
    chip: str
    where: str
    reason: str
    limit: bool
