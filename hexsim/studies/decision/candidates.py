"""Candidates: one mode on one chip, runtime and cut, with its costs and its accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

from hexsim.accuracy.output_errors import OutputError, judged_db
from hexsim.accuracy.scores import LEAST_DB
from hexsim.quantization.finding import Finding
from hexsim.runtimes import MAIN_ENGINE, Runtime
from hexsim.studies.decision.modes import Mode

Cut = Literal["", "none", "automatic", "fastest"]
"""Which HTA sections: not applicable, none, the compiler's, the fastest ones."""


@dataclass(frozen=True)
class Timed:
    """Simulated costs of one inference.

    `sections` are the sections of `cut` as `compile_hta` reads them. `file_bytes` is the size
    of the parameters in the file, `peak_bytes` the peak memory of the inference. `energy_mj` lies
    between `energy_low_mj` and `energy_high_mj`. `values` is a hash of the arithmetic: candidates
    of one mode with the same hash give the same answers.
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
    """Agreement of the answers with float, as `hexsim validate` counts it.

    `runtime_top1` and `float_top1` are None without labels; `sqnr_db`, that of the worst of
    `outputs`, is None without any noise. `worst` has the tensors written by the layers that add
    most noise, most first. `findings` are the losses of its encodings.
    """

    inputs: int
    same_top1: int
    runtime_top1: int | None
    float_top1: int | None
    sqnr_db: float | None
    worst: tuple[str, ...] = ()
    outputs: tuple[OutputError, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class DrawnTotals:
    """Total times in us with all uncertain constants drawn at once; nine in ten lie between.

    The ends also enclose the time as stated.
    """

    low_us: float
    high_us: float
    us: tuple[float, ...]

    def quicker(self, other: DrawnTotals, *, paired: bool) -> float:
        """Return the share of draws (0 .. 1) in which this is the shorter; a tie counts half.

        `paired` draws are those of one platform, which are compared one by one. On two platforms
        draws are independent, and each is compared with all of the other.
        """
        pairs = zip(self.us, other.us, strict=True) if paired else product(self.us, other.us)
        wins = [1.0 if mine < theirs else 0.5 if mine == theirs else 0.0 for mine, theirs in pairs]
        return sum(wins) / len(wins)


@dataclass(frozen=True)
class DecisionCandidate:
    """A mode on a runtime of a chip with a cut; the plainer of two modes has the lower `order`.

    `loss` is in percentage points of top-1 below float, or of disagreement with float; None if the
    network is no classifier. `in_front` means that no other candidate is at least as good in every
    figure. Only the heads of places that may be first have `drawn`; from it follows `doubt` of all
    candidates of the place, the middle of the interval (in logarithms) over the time as stated.
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
    doubt: float = 1.0

    @property
    def expected_us(self) -> float:
        """Time of one inference in the middle of its interval."""
        return self.timed.total_us * self.doubt

    @property
    def hardware(self) -> tuple[str, str]:
        """The chip and its engine, whose constants the time depends on most."""
        return self.chip, MAIN_ENGINE[self.runtime]

    @property
    def is_noise(self) -> bool:
        """True if the outputs are too noisy to be of use."""
        outputs = self.accuracy.outputs if self.accuracy else ()
        return judged_db(self.sqnr_db, outputs) < LEAST_DB

    @property
    def ms(self) -> float:
        """Time of one inference as the application sees it."""
        return self.timed.total_us / 1e3

    @property
    def peak_mib(self) -> float:
        """Memory at its peak."""
        return self.timed.peak_bytes / 2**20

    @property
    def sqnr_db(self) -> float | None:
        """SQNR of its outputs, if it is known."""
        return self.accuracy.sqnr_db if self.accuracy else None

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
    """A mode on a runtime of a chip that is ruled out. `limit` is True if it would have worked."""

    mode: str
    chip: str
    where: str
    reason: str
    limit: bool
