"""Deciding: all candidates of a question, in the order of its preference, and what is out.

Answers are computed only for candidates whose cost is allowed. Where the most accurate mode of 8
bits loses something, the layers that add most noise to it are kept float, one and then some more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from hexsim.accuracy.scores import is_classifier
from hexsim.display import Cell, DisplayTable, Shown
from hexsim.errors import HexsimError
from hexsim.quantization.model import require_float
from hexsim.runtimes import FIXED_POINT
from hexsim.studies.decision.candidates import CandidateAccuracy, DecisionCandidate, RuledOut
from hexsim.studies.decision.limits import Limits
from hexsim.studies.decision.modes import MIXED_LAYERS, Mode, is_eight_bit
from hexsim.studies.decision.parts import DecisionParts, Place
from hexsim.studies.decision.question import Question
from hexsim.studies.decision.ranking import Preference, heads, ranked

DRAWN = 3
"""Places whose best candidates get an interval of their time."""

WHOLE, AS_DSP = "aip (no HTA section)", "it runs as on dsp, which stands for both"
"""Of aip without sections: where that is, and why it is no choice beside dsp."""

Progress = Callable[[str], None]


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """The answer. `ranked` are the candidates within the limits, best first; the first is it.

    `float_top1` are the items that the float network has right, None without labels. `sure` has the
    share of draws (0 .. 1) in which the best of a place is quicker than that of the next place.
    `notes` say what inputs and calibration were.
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

    def sheet(self) -> DisplayTable:
        """Return a row per choice within the limits, best first."""
        count = len(self.ranked)
        title = f"{self.network}: {count} within the limits, {len(self.ruled_out)} ruled out"
        columns = ("mode", "chip", "runtime", "cut", "ms", "peak_mib", "mj", "loss", "sqnr_db")
        return DisplayTable(title, columns, tuple(map(_row, self.ranked)), bars="ms")


def _row(one: DecisionCandidate) -> tuple[Cell, ...]:
    costs = (one.ms, one.peak_mib, one.timed.energy_mj)
    sqnr_db = one.accuracy.sqnr_db if one.accuracy else None
    return (one.mode.name, one.chip, one.runtime, one.timed.cut, *costs, one.loss, sqnr_db)


def decide(question: Question, progress: Progress = lambda what: None) -> Decision:
    """Compute all candidates and rank them; `progress` is told what is at work.

    Raises HexsimError for a network that is quantised, for limits of accuracy that its outputs or
    the inputs say nothing about, and if no runtime is left to ask.
    """
    require_float(question.read.model)
    classifier = question.labels is not None or is_classifier(question.read.model.network)
    _require_meaning(question, classifier)
    return _Deciding(question, classifier, progress).decision()


def _require_meaning(question: Question, classifier: bool) -> None:
    limits = question.limits
    if limits.about_accuracy and question.inputs.seeded:
        raise HexsimError(
            "--max-loss and --min-db are about accuracy, which seeded inputs do not measure; give "
            "--images or --input-list"
        )
    if limits.max_loss is not None and not classifier:
        raise HexsimError(
            f"--max-loss counts classes, and network '{question.read.model.name}' has none in its "
            "first output; give --min-db"
        )


class _Remaining:
    """Says how long it still takes, by what was not kept so far."""

    def __init__(self, steps: int, tell: Progress) -> None:
        self._steps, self._tell = steps, tell
        self._done, self._worked, self._seconds = 0, 0, 0.0
        self._begun: float | None = None

    def more(self, steps: int) -> None:
        """There are more steps than was said."""
        self._steps += steps

    def step(self, what: str, *, kept: bool) -> None:
        """Another step begins."""
        self.end()
        self._done += 1
        if not kept:
            self._begun = time.monotonic()
        self._tell(f"{self._done} of {self._steps}: {what}{self._left()}")

    def end(self) -> None:
        """The step at work is done."""
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
        self._asked, self._classifier, self._tell = question, classifier, progress
        self._parts = DecisionParts(question)
        self._out: list[RuledOut] = []
        self._places = tuple(self._runtimes())
        if not self._places:
            raise HexsimError(self._out[0].reason if self._out else "there is no chip to ask")
        steps = sum(len(self._of(mode)) for mode in question.modes)
        self._remaining = _Remaining(steps, progress)

    def decision(self) -> Decision:
        """Go through the modes, those that keep layers float last."""
        asked, found = self._asked, list[DecisionCandidate]()
        for order, mode in enumerate(asked.modes):
            found += self._candidates(order, mode)
        for order, mode in enumerate(self._mixed(found), start=len(asked.modes)):
            self._remaining.more(len(self._of(mode)))
            found += self._candidates(order, mode)
        self._remaining.end()
        float_top1 = self._float_top1(found)
        found = [replace(one, loss=self._loss(one.accuracy, float_top1)) for one in found]
        allowed = [one for one in found if not self._is_beyond(one, asked.limits.worth_beyond(one))]
        best = self._with_draws(ranked(allowed, asked.prefer))
        return Decision(
            asked.read.model.name,
            asked.inputs.items,
            self._classifier,
            asked.labels is not None,
            float_top1,
            asked.limits,
            asked.prefer,
            best,
            tuple(self._out),
            tuple(_sure(best)),
            self._notes(),
        )

    def _runtimes(self) -> Iterator[Place]:
        for platform in self._asked.platforms:
            for runtime in self._asked.runtimes or platform.chip.runtimes:
                try:
                    platform.chip.require(runtime)
                    platform.stack.require(runtime)
                except HexsimError as error:
                    chip = platform.chip.name
                    self._out.append(RuledOut("all", chip, runtime, str(error), limit=False))
                else:
                    yield platform, runtime

    def _of(self, mode: Mode) -> list[Place]:
        """Where the file of a mode is at home: floats on float runtimes, codes on the others."""
        return [place for place in self._places if (place[1] in FIXED_POINT) == mode.quantizes]

    def _candidates(self, order: int, mode: Mode) -> Iterator[DecisionCandidate]:
        """Those of one mode whose cost is allowed, with what their answers are worth."""
        for platform, runtime in self._of(mode):
            place, chip = (platform, runtime), platform.chip.name
            kept = self._parts.knows(mode, place)
            self._remaining.step(f"{mode.name} on {chip} {runtime}", kept=kept)
            timed = self._parts.timed(mode, place)
            if isinstance(timed, str):
                self._out.append(RuledOut(mode.name, chip, runtime, timed, limit=False))
                continue
            for one in timed:
                made = DecisionCandidate(mode, order, chip, platform.stack.name, runtime, one)
                if one.cut == "none" and (platform, "dsp") in self._places:
                    self._out.append(RuledOut(mode.name, chip, WHOLE, AS_DSP, limit=False))
                    continue
                if not self._is_beyond(made, self._asked.limits.cost_beyond(made)):
                    accuracy = self._parts.accuracy(mode, place, one)
                    yield replace(made, accuracy=accuracy)

    def _is_beyond(self, one: DecisionCandidate, reason: str | None) -> bool:
        if reason is not None:
            where = one.where.removeprefix(f"{one.chip} ")
            self._out.append(RuledOut(one.mode.name, one.chip, where, reason, limit=True))
        return reason is not None

    def _mixed(self, found: list[DecisionCandidate]) -> Iterator[Mode]:
        """The most accurate mode of 8 bits with its worst layers float, if there is any noise."""
        eight = [one for one in found if is_eight_bit(one.mode)]
        if not self._asked.mixed or not eight:
            return
        float_top1 = self._float_top1(found)
        rated = [replace(one, loss=self._loss(one.accuracy, float_top1)) for one in eight]
        base = ranked(rated, "accuracy")[0]
        worst = base.accuracy.worst if base.accuracy else ()
        names = self._asked.read.model.network.tensors
        worst = tuple(name for name in worst if name in names)
        for count in MIXED_LAYERS:
            if count <= len(worst):
                name = f"{base.mode.name}+{count}float"
                yield base.mode.keeping(name, worst[:count])

    @staticmethod
    def _float_top1(found: list[DecisionCandidate]) -> int | None:
        """What the float network has right: equalization may change what it computes."""
        plain = [one.accuracy for one in found if "cle" not in one.mode.optimizations]
        known = plain or [one.accuracy for one in found]
        return next((one.float_top1 for one in known if one is not None), None)

    def _loss(self, accuracy: CandidateAccuracy | None, float_top1: int | None) -> float | None:
        if accuracy is None or not self._classifier:
            return None
        lost = accuracy.inputs - accuracy.same_top1
        if accuracy.runtime_top1 is not None and float_top1 is not None:
            lost = float_top1 - accuracy.runtime_top1
        return 100.0 * lost / accuracy.inputs

    def _with_draws(self, best: tuple[DecisionCandidate, ...]) -> tuple[DecisionCandidate, ...]:
        """The same; the heads of the first places have intervals."""
        asked = self._asked
        if not asked.draws:
            return best
        platforms = {place[0].chip.name: place[0] for place in self._places}
        found = {}
        for head in heads(best)[:DRAWN]:
            self._tell(f"{asked.draws} draws of the constants for {head.mode.name} on {head.where}")
            place = (platforms[head.chip], head.runtime)
            found[head.mode, head.place] = self._parts.drawn(
                head.mode, place, head.timed, asked.draws
            )
        return tuple(replace(one, drawn=found.get((one.mode, one.place))) for one in best)

    def _notes(self) -> tuple[str, ...]:
        source, calibration = self._asked.inputs, self._asked.calibration
        on = (
            "seeded inputs"
            if source.seeded and calibration is None
            else "the " + (calibration or source).description
        )
        return source.description, f"quantised on {on}"


def _sure(best: tuple[DecisionCandidate, ...]) -> Iterator[float]:
    """How often the head of each place is quicker than that of the next.

    On one platform the constants of both are drawn together, so draws are compared one by one; on
    two they have nothing in common, and each draw is compared with all of the other.
    """
    for one, other in pairwise(heads(best)):
        if one.drawn is None or other.drawn is None:
            return
        mine, theirs = one.drawn.us, other.drawn.us
        if one.chip == other.chip:
            pairs = list(zip(mine, theirs, strict=True))
        else:
            pairs = [(a, b) for a in mine for b in theirs]
        yield sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)
