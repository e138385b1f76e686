"""Decide: rank all candidates of a question by its preference, and list those ruled out.

Answers are computed only for candidates whose cost is allowed. Where the most accurate 8-bit mode
loses accuracy, the layers that add most noise to it are kept float: one, and then more.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from hexsim.accuracy.scores import is_classifier
from hexsim.deployment.platform import Anchor
from hexsim.display import Cell, DisplayTable, Shown
from hexsim.errors import HexsimError, spelled
from hexsim.inputs.split import InputRoles
from hexsim.quantization.model import require_float
from hexsim.runtimes import FIXED_POINT
from hexsim.studies.decision.candidates import (
    CandidateAccuracy,
    DecisionCandidate,
    DrawnTotals,
    RuledOut,
)
from hexsim.studies.decision.changes import TriedChange, changes_of
from hexsim.studies.decision.limits import Limits
from hexsim.studies.decision.modes import MIXED_LAYERS, Mode, is_eight_bit
from hexsim.studies.decision.parts import DecisionParts, Place
from hexsim.studies.decision.question import Question
from hexsim.studies.decision.ranking import Preference, heads, ranked

DRAWN = 3
"""Places whose best candidates get an interval of their time, whatever they take.

So does the first one on other hardware than the best.
"""

WORTH = 0.01
"""The share of the time that a change of the network must save to be listed."""

WHOLE, AS_DSP = "aip (no HTA section)", "it runs as on dsp, which stands for both"
"""How aip without sections is listed, and the reason why it is ruled out beside dsp."""

Progress = Callable[[str], None]


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """The answer. `ranked` has the candidates within the limits, best first.

    `float_top1` is the number of items that the float network has right, None without labels.
    `sure` has the share of draws (0 .. 1) in which the best candidate of a place is quicker than
    that of the next place. `notes` describe inputs and calibration. `changes` are the changes of
    the network that make the best candidate faster, the best first. Answers on `seeded` inputs tell
    modes apart, and say little of what a user would get. `unstored` says why results were not
    stored for the next run, and is empty if they were.
    """

    network: str
    items: int
    classifier: bool
    labelled: bool
    float_top1: int | None
    limits: Limits
    prefer: Preference
    ranked: tuple[DecisionCandidate, ...]
    ruled_out: tuple[RuledOut, ...]
    sure: tuple[float, ...]
    notes: tuple[str, ...]
    anchor: Anchor | None = None
    vtcm_mb: float | None = None
    changes: tuple[TriedChange, ...] = ()
    seeded: bool = False
    unstored: str = ""

    def display_table(self) -> DisplayTable:
        """Return a row per candidate within the limits, best first."""
        count = len(self.ranked)
        title = f"{self.network}: {count} within the limits, {len(self.ruled_out)} ruled out"
        columns = ("mode", "chip", "runtime", "cut", "ms", "peak_mib", "mj", "loss", "sqnr_db")
        return DisplayTable(title, columns, tuple(map(_row, self.ranked)), bars="ms")


def _row(candidate: DecisionCandidate) -> tuple[Cell, ...]:
    choice = (candidate.mode.name, candidate.chip, candidate.runtime, candidate.timed.cut)
    costs = (candidate.ms, candidate.peak_mib, candidate.timed.energy_mj)
    return (*choice, *costs, candidate.loss, candidate.sqnr_db)


def decide(question: Question, progress: Progress = lambda what: None) -> Decision:
    """Compute all candidates and rank them; `progress` is called with each step.

    Raises HexsimError for a quantised network, for accuracy limits that cannot be checked with its
    outputs or inputs, and if no runtime can be tried.
    """
    require_float(question.read.model)
    classifier = question.labels is not None or is_classifier(question.read.model.network)
    _require_meaning(question, classifier)
    return _Deciding(question, classifier, progress).decision()


def _require_meaning(question: Question, classifier: bool) -> None:
    limits = question.limits
    if limits.about_accuracy and question.inputs.seeded:
        raise HexsimError(
            f"{spelled('max_loss')} and {spelled('min_db')} are about accuracy, which seeded "
            "inputs "
            f"do not measure; give {spelled('images')} or {spelled('input_list')}"
        )
    if limits.max_loss is not None and not classifier:
        raise HexsimError(
            f"{spelled('max_loss')} counts classes, and network '{question.read.model.name}' has "
            "none in its "
            f"first output; give {spelled('min_db')}"
        )


class _Remaining:
    """Estimate the remaining time from the steps whose result was not stored."""

    def __init__(self, steps: int, tell: Progress) -> None:
        self._steps, self._tell = steps, tell
        self._done, self._worked, self._seconds = 0, 0, 0.0
        self._begun: float | None = None

    def more(self, steps: int) -> None:
        """Add steps."""
        self._steps += steps

    def step(self, label: str, *, is_stored: bool) -> None:
        """Begin another step."""
        self.end()
        self._done += 1
        if not is_stored:
            self._begun = time.monotonic()
        self._tell(f"{self._done} of {self._steps}: {label}{self._left()}")

    def end(self) -> None:
        """End the current step."""
        if self._begun is not None:
            self._worked += 1
            self._seconds += time.monotonic() - self._begun
            self._begun = None

    def _left(self) -> str:
        if not self._worked:
            return ""
        seconds = self._seconds / self._worked * (self._steps - self._done + 1)
        return (
            f", about {seconds:.0f} s left"
            if seconds < 90
            else f", about {seconds / 60:.0f} min left"
        )


class _Deciding:
    def __init__(self, question: Question, classifier: bool, progress: Progress) -> None:
        self._question, self._classifier, self._tell = question, classifier, progress
        self._parts = DecisionParts(question)
        self._out: list[RuledOut] = []
        self._failures: list[str] = []
        self._places = tuple(self._runtimes())
        if not self._places:
            raise HexsimError(self._out[0].reason if self._out else "there is no chip to ask")
        steps = sum(len(self._of(mode)) for mode in question.modes)
        self._remaining = _Remaining(steps, progress)

    def decision(self) -> Decision:
        """Try all modes; those that keep layers float come last."""
        question, candidates = self._question, list[DecisionCandidate]()
        for order, mode in enumerate(question.modes):
            candidates += self._candidates(order, mode)
        for order, mode in enumerate(self._mixed(candidates), start=len(question.modes)):
            self._remaining.more(len(self._of(mode)))
            candidates += self._candidates(order, mode)
        self._remaining.end()
        if not candidates:
            self._require_limits_alone()
        float_top1 = self._float_top1(candidates)
        beyond, rated = question.limits.worth_beyond, self._with_loss(candidates, float_top1)
        allowed = [rating for rating in rated if not self._is_beyond(rating, beyond(rating))]
        best = self._with_draws(ranked(allowed, question.prefer))
        changes = sorted(self._changes(best[0]), key=lambda c: c.after_us) if best else ()
        return Decision(
            question.read.model.name,
            question.inputs.items,
            self._classifier,
            question.labels is not None,
            float_top1,
            question.limits,
            question.prefer,
            best,
            tuple(self._out),
            tuple(_sure(best)),
            self._notes(),
            question.platforms[0].anchor,
            question.platforms[0].vtcm_mb,
            tuple(changes),
            question.inputs.seeded,
            self._parts.fault,
        )

    def _require_limits_alone(self) -> None:
        """Raise HexsimError if there is no candidate, and no limit is the reason."""
        if any(out.limit for out in self._out):
            return
        reasons = dict.fromkeys(out.reason for out in self._out if out.reason != AS_DSP)
        if not reasons:
            modes = ", ".join(mode.name for mode in self._question.modes)
            runtimes = ", ".join(dict.fromkeys(runtime for _, runtime in self._places))
            raise HexsimError(
                f"no mode of {modes} runs on {runtimes}; give others of {spelled('modes')}"
            )
        raise HexsimError(f"no candidate can run: {'; '.join(reasons)}")

    def _runtimes(self) -> Iterator[Place]:
        for platform in self._question.platforms:
            for runtime in self._question.runtimes or platform.chip.runtimes:
                try:
                    platform.chip.require(runtime)
                    platform.stack.require(runtime)
                except HexsimError as error:
                    chip = platform.chip.name
                    self._out.append(RuledOut("all", chip, runtime, str(error), limit=False))
                else:
                    yield platform, runtime

    def _of(self, mode: Mode) -> list[Place]:
        """Return the places for a mode: float runtimes for floats, the others for codes."""
        return [place for place in self._places if (place[1] in FIXED_POINT) == mode.quantizes]

    def _candidates(self, order: int, mode: Mode) -> Iterator[DecisionCandidate]:
        """Yield the candidates of one mode whose cost is allowed, with their accuracy."""
        for platform, runtime in self._of(mode):
            place, chip = (platform, runtime), platform.chip.name
            is_stored = self._parts.knows(mode, place)
            self._remaining.step(f"{mode.name} on {chip} {runtime}", is_stored=is_stored)
            timed = self._parts.timed(mode, place)
            if isinstance(timed, str):
                self._out.append(RuledOut(mode.name, chip, runtime, timed, limit=False))
                continue
            for cut in timed:
                candidate = DecisionCandidate(mode, order, chip, platform.stack.name, runtime, cut)
                if cut.cut == "none" and (platform, "dsp") in self._places:
                    self._out.append(RuledOut(mode.name, chip, WHOLE, AS_DSP, limit=False))
                    continue
                if not self._is_beyond(candidate, self._question.limits.cost_beyond(candidate)):
                    accuracy = self._parts.accuracy(mode, place, cut)
                    if isinstance(accuracy, str):
                        self._refuse(candidate, accuracy)
                    else:
                        yield replace(candidate, accuracy=accuracy)

    def _is_beyond(self, candidate: DecisionCandidate, reason: str | None) -> bool:
        if reason is not None:
            self._refuse(candidate, reason, limit=True)
        return reason is not None

    def _refuse(self, candidate: DecisionCandidate, reason: str, *, limit: bool = False) -> None:
        where = candidate.where.removeprefix(f"{candidate.chip} ")
        mode = candidate.mode.name
        self._out.append(RuledOut(mode, candidate.chip, where, reason, limit=limit))

    def _mixed(self, candidates: list[DecisionCandidate]) -> Iterator[Mode]:
        """Yield the most accurate 8-bit mode with its worst layers float, if it has noise."""
        eight = [candidate for candidate in candidates if is_eight_bit(candidate.mode)]
        if not self._question.mixed or not eight:
            return
        float_top1 = self._float_top1(candidates)
        base = ranked(self._with_loss(eight, float_top1), "accuracy")[0]
        worst = base.accuracy.worst if base.accuracy else ()
        names = self._question.read.model.network.tensors
        worst = tuple(name for name in worst if name in names)
        for count in MIXED_LAYERS:
            if count <= len(worst):
                name = f"{base.mode.name}+{count}float"
                yield base.mode.keeping(name, worst[:count])

    @staticmethod
    def _float_top1(candidates: list[DecisionCandidate]) -> int | None:
        """Return how many items float has right; equalised networks count only without others."""
        unequalised = [c for c in candidates if "cle" not in c.mode.optimizations]
        accuracies = (candidate.accuracy for candidate in unequalised or candidates)
        return next((accuracy.float_top1 for accuracy in accuracies if accuracy is not None), None)

    def _with_loss(
        self, candidates: list[DecisionCandidate], float_top1: int | None
    ) -> list[DecisionCandidate]:
        return [replace(c, loss=self._loss(c.accuracy, float_top1)) for c in candidates]

    def _loss(self, accuracy: CandidateAccuracy | None, float_top1: int | None) -> float | None:
        if accuracy is None or not self._classifier:
            return None
        lost = accuracy.inputs - accuracy.same_top1
        if accuracy.runtime_top1 is not None and float_top1 is not None:
            lost = float_top1 - accuracy.runtime_top1
        return 100.0 * lost / accuracy.inputs

    def _with_draws(self, best: tuple[DecisionCandidate, ...]) -> tuple[DecisionCandidate, ...]:
        """Return the candidates, ranked again by what the draws of their places say."""
        if not self._question.draws:
            return best
        totals, doubts = dict[object, DrawnTotals](), dict[object, float]()
        places = heads(best)
        rival = next((head for head in places if head.hardware != places[0].hardware), None)
        for count, head in enumerate(places):
            # What is slower as stated than the slowest end of another one is not the first.
            ends = [drawn.high_us for drawn in totals.values()]
            may_be_first = head.timed.total_us <= min(ends, default=math.inf)
            wanted = self._question.prefer == "latency" and may_be_first
            if count >= DRAWN and head is not rival and not wanted:
                continue
            if (drawn := self._draws_of(head)) is not None:
                totals[head.mode, head.place] = drawn
                middle_us = math.sqrt(drawn.low_us * drawn.high_us)
                doubts[head.place] = middle_us / head.timed.total_us
        known = [
            replace(c, drawn=totals.get((c.mode, c.place)), doubt=doubts.get(c.place, 1.0))
            for c in best
        ]
        return ranked(known, self._question.prefer)

    def _draws_of(self, head: DecisionCandidate) -> DrawnTotals | None:
        """Return the draws of a candidate; None, with a note, if they fail."""
        draws = self._question.draws
        self._tell(f"{draws} draws of the constants for {head.mode.name} on {head.where}")
        try:
            return self._parts.drawn(head.mode, self._place(head), head.timed, draws)
        except HexsimError as error:
            self._failures.append(f"{head.mode.name} on {head.where} has no interval: {error}")
            return None

    def _place(self, candidate: DecisionCandidate) -> Place:
        platforms = {place[0].chip.name: place[0] for place in self._places}
        return platforms[candidate.chip], candidate.runtime

    def _changes(self, best: DecisionCandidate) -> Iterator[TriedChange]:
        """Yield the changes of the network that are worth it; a note for each that fails."""
        place, parts = self._place(best), self._parts
        for change in changes_of(self._question.read.model.network, best.runtime):
            self._tell(f"the network with {change.name} on {best.where}")
            try:
                tried = parts.changed(change, best.mode, place, best.timed, best.drawn)
                if tried is None or tried.gain <= WORTH or not tried.is_sure:
                    continue
                if change.same_answers and not parts.keeps_answers(change):
                    raise HexsimError("its outputs are not those of the network as it is")
            except HexsimError as error:
                self._failures.append(f"{change.name} could not be tried: {error}")
            else:
                yield tried

    def _notes(self) -> tuple[str, ...]:
        question = self._question
        roles = InputRoles(question.inputs, calibrating=question.calibration)
        quantised = [f"quantised on {roles.calibration}"] if roles.calibrating else []
        anchors = (platform.anchor for platform in question.platforms[:1])
        anchor = [f"calibrated with {point.description}" for point in anchors if point]
        vtcm_mb = question.platforms[0].vtcm_mb
        vtcm = [] if vtcm_mb is None else [f"a graph may use {vtcm_mb:g} MB of VTCM"]
        return question.inputs.description, *quantised, *anchor, *vtcm, *self._failures


def _sure(best: tuple[DecisionCandidate, ...]) -> Iterator[float]:
    """Yield the share of draws in which the head of each place is quicker than the next head."""
    for head, next_head in pairwise(heads(best)):
        if head.drawn is None or next_head.drawn is None:
            return
        yield head.drawn.quicker(next_head.drawn, paired=head.chip == next_head.chip)
