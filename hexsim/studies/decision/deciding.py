"""Decide: rank all candidates of a question by its preference, and list those ruled out.

Answers are computed only for candidates whose cost is allowed. Where the most accurate 8-bit mode
loses accuracy, the layers that add most noise to it are kept float: one, and then more.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product

from msgspec.structs import replace

from hexsim.accuracy.experiments import sensitivity
from hexsim.accuracy.scores import is_classifier
from hexsim.errors import HexsimError, either, spelled, step
from hexsim.inputs.source import InputRoles
from hexsim.quantization.model import require_float
from hexsim.results.decision import (
    Choice,
    ChoiceSensitivity,
    Decision,
    Rival,
    RuledOut,
    TriedChange,
    heads,
)
from hexsim.runtimes import FIXED_POINT
from hexsim.studies.decision.channels import changes_of
from hexsim.studies.decision.modes import (
    MIXED_LAYERS,
    Beyond,
    Mode,
    Question,
    commands,
    cost_beyond,
    is_eight_bit,
    ranked,
    rule,
    worth_beyond,
)
from hexsim.studies.decision.parts import DecisionParts, Place
from hexsim.studies.inferences import anchor_fields, place_errors
from hexsim.studies.validation import judge_of
from hexsim.texts.fields import taken
from hexsim.timing.results import Result

DRAWN = 3
"""Places whose best candidates get an interval of their time, whatever they take.

So does the first one on other hardware than the best.
"""

WORTH = 0.01
"""The share of the time that a change of the network must save to be listed."""

WHOLE, AS_DSP = "aip (no HTA section)", "it runs as on dsp, which stands for both"
"""How aip without sections is listed, and the reason why it is ruled out beside dsp."""

DRAWN_PLACES = 8
"""Places whose timelines are simulated: more rows are not compared by eye."""


def decide(question: Question) -> Decision:
    """Compute all candidates and rank them.

    Raises HexsimError for a quantised network, for accuracy limits that cannot be checked with its
    outputs or inputs, and if no runtime can be tried.
    """
    require_float(question.read.model)
    classifier = question.labels is not None or is_classifier(question.read.model.network)
    _require_meaning(question, classifier)
    return _Deciding(question, classifier).decision()


def _require_meaning(question: Question, classifier: bool) -> None:
    limits = question.limits
    if limits.about_accuracy and question.inputs.seeded:
        raise HexsimError(
            f"{spelled('max_loss')} and {spelled('min_db')} are about accuracy, which seeded "
            "inputs "
            f"do not measure; give {either('images', 'input_list')}"
        )
    if limits.max_loss is not None and not classifier:
        raise HexsimError(
            f"{spelled('max_loss')} counts classes, and network '{question.read.model.name}' has "
            "none in its "
            f"first output; give {spelled('min_db')}"
        )


class _Remaining:
    """Estimate the remaining time from the steps whose result was not stored."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._done, self._worked, self._seconds = 0, 0, 0.0
        self._begun: float | None = None

    def more(self, steps: int) -> None:
        self._steps += steps

    def step(self, label: str, *, is_stored: bool) -> None:
        self.end()
        self._done += 1
        if not is_stored:
            self._begun = time.monotonic()
        step(f"{self._done} of {self._steps}: {label}{self._left()}")

    def end(self) -> None:
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
    def __init__(self, question: Question, classifier: bool) -> None:
        self._question, self._classifier = question, classifier
        self._parts = DecisionParts(question)
        self._modes: dict[str, Mode] = {}
        self._out: list[RuledOut] = []
        self._failures: list[str] = []
        self._places = tuple(self._runtimes())
        if not self._places:
            raise HexsimError(self._out[0].reason if self._out else "there is no chip to ask")
        steps = sum(len(self._of(mode)) for mode in question.modes)
        self._remaining = _Remaining(steps)

    def decision(self) -> Decision:
        """Try all modes; those that keep layers float come last."""
        question, candidates = self._question, list[Choice]()
        for order, mode in enumerate(question.modes):
            candidates += self._candidates(order, mode)
        for order, mode in enumerate(self._mixed(candidates), start=len(question.modes)):
            self._remaining.more(len(self._of(mode)))
            candidates += self._candidates(order, mode)
        self._remaining.end()
        if not candidates:
            self._require_limits_alone()
        float_top1 = _float_top1(candidates)
        allowed = [
            choice
            for choice in self._with_loss(candidates, float_top1)
            if not self._is_beyond(choice, worth_beyond(question.limits, choice))
        ]
        best = self._with_draws(ranked(allowed, question.prefer))
        changes = sorted(self._changes(best[0]), key=lambda c: c.after_us) if best else ()
        platform, options = question.platforms[0], question.options
        return Decision(
            network=question.read.model.name,
            **anchor_fields(platform.anchor),
            vtcm_mb=platform.vtcm_mb,
            inputs=question.inputs.items,
            prefer=question.prefer,
            rule=rule(question.prefer),
            limits=question.limits,
            float_top1=float_top1,
            choices=best,
            sure=tuple(_sure(best)),
            changes=tuple(changes),
            ruled_out=tuple(self._out),
            commands=commands(best[0], options) if best and options else (),
            classifier=self._classifier,
            labelled=question.labels is not None,
            seeded=question.inputs.seeded,
            expected_errors=place_errors(map(self._place, best)),
            rival=_rival(best),
            sensitivity=self._sensitivity(best) if question.sensitivity else None,
            notes=self._notes(),
            unstored=self._parts.fault,
            timelines=lambda: self._timelines(best),
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
                    self._refuse("all", platform.chip.name, runtime, str(error))
                else:
                    yield platform, runtime

    def _of(self, mode: Mode) -> list[Place]:
        """Return the places for a mode: float runtimes for floats, the others for codes."""
        return [place for place in self._places if (place[1] in FIXED_POINT) == mode.quantizes]

    def _candidates(self, order: int, mode: Mode) -> Iterator[Choice]:
        """Yield the candidates of one mode whose cost is allowed, with their accuracy."""
        self._modes[mode.name] = mode
        for platform, runtime in self._of(mode):
            place, chip = (platform, runtime), platform.chip.name
            is_stored = self._parts.knows(mode, place)
            self._remaining.step(f"{mode.name} on {chip} {runtime}", is_stored=is_stored)
            costs = self._parts.timed(mode, place)
            if isinstance(costs, str):
                self._refuse(mode.name, chip, runtime, costs)
                continue
            for cost in costs:
                candidate = Choice(
                    mode=mode.name,
                    quantizer_words=mode.words,
                    float_tensors=mode.floats,
                    chip=chip,
                    stack=platform.stack.name,
                    runtime=runtime,
                    order=order,
                    expected_us=cost["total_inference_us"],
                    **cost,
                )
                if candidate.cut == "none" and (platform, "dsp") in self._places:
                    self._refuse(mode.name, chip, WHOLE, AS_DSP)
                elif not self._is_beyond(candidate, cost_beyond(self._question.limits, candidate)):
                    accuracy = self._parts.accuracy(mode, place, candidate)
                    if isinstance(accuracy, str):
                        self._refuse(mode.name, chip, candidate.where, accuracy)
                    else:
                        yield replace(candidate, **accuracy)

    def _is_beyond(self, choice: Choice, beyond: Beyond | None) -> bool:
        if beyond is not None:
            out = RuledOut(
                mode=choice.mode,
                chip=choice.chip,
                where=choice.where,
                reason=str(beyond),
                limit=True,
                figure=beyond.figure,
                value=beyond.value,
            )
            self._out.append(out)
        return beyond is not None

    def _refuse(self, mode: str, chip: str, where: str, reason: str) -> None:
        self._out.append(RuledOut(mode=mode, chip=chip, where=where, reason=reason, limit=False))

    def _mixed(self, candidates: list[Choice]) -> Iterator[Mode]:
        """Yield the most accurate 8-bit mode with its worst layers float, if it has noise."""
        eight = [choice for choice in candidates if is_eight_bit(self._modes[choice.mode])]
        if not self._question.mixed or not eight:
            return
        base = ranked(self._with_loss(eight, _float_top1(candidates)), "accuracy")[0]
        names = self._question.read.model.network.tensors
        worst = self._parts.worst(self._modes[base.mode], self._place(base), base)
        worst = tuple(name for name in worst if name in names)
        for count in MIXED_LAYERS:
            if count <= len(worst):
                name = f"{base.mode}+{count}float"
                yield self._modes[base.mode].keeping(name, worst[:count])

    def _with_loss(self, candidates: Iterable[Choice], float_top1: int | None) -> list[Choice]:
        return [replace(c, loss_points=self._loss(c, float_top1)) for c in candidates]

    def _loss(self, choice: Choice, float_top1: int | None) -> float | None:
        if not self._classifier or choice.same_top1 is None:
            return None
        lost = choice.inputs - choice.same_top1
        if choice.runtime_top1 is not None and float_top1 is not None:
            lost = float_top1 - choice.runtime_top1
        return 100.0 * lost / choice.inputs

    def _with_draws(self, best: tuple[Choice, ...]) -> tuple[Choice, ...]:
        """Return the choices, ranked again by what the draws of their places say.

        The middle of an interval, in logarithms, is the time that is expected; relative to the time
        as stated, it counts for all choices of the place, and on the same kind of engine where a
        place has none: times there are wrong together, and would be compared with those as stated.
        """
        if not self._question.draws:
            return best
        drawn, doubts = dict[object, Mapping[str, float]](), dict[object, float]()
        of_engine: dict[str, float] = {}
        places = heads(best)
        rival = next((head for head in places if head.hardware != places[0].hardware), None)
        for count, head in enumerate(places):
            # What is slower as stated than the slowest end of another one is not the first.
            ends = [each["high_us"] for each in drawn.values()]
            may_be_first = head.total_inference_us <= min(ends, default=math.inf)
            wanted = self._question.prefer == "latency" and may_be_first
            if count >= DRAWN and head is not rival and not wanted:
                continue
            if (draws := self._draws_of(head)) is not None:
                drawn[head.mode, head.place] = draws
                middle_us = math.sqrt(draws["low_us"] * draws["high_us"])
                doubts[head.place] = doubt = middle_us / head.total_inference_us
                of_engine.setdefault(head.hardware[1], doubt)
        known = [
            replace(
                c,
                **drawn.get((c.mode, c.place), {}),
                expected_us=c.total_inference_us
                * doubts.get(c.place, of_engine.get(c.hardware[1], 1.0)),
            )
            for c in best
        ]
        return ranked(known, self._question.prefer)

    def _draws_of(self, head: Choice) -> Mapping[str, float] | None:
        """Return the draws of a choice; None, with a note, if they fail."""
        draws, where = self._question.draws, f"{head.chip} {head.where}"
        step(f"{draws} draws of the constants for {head.mode} on {where}")
        try:
            return self._parts.drawn(self._modes[head.mode], self._place(head), head, draws)
        except HexsimError as error:
            self._failures.append(f"{head.mode} on {where} has no interval: {error}")
            return None

    def _place(self, choice: Choice) -> Place:
        platforms = {place[0].chip.name: place[0] for place in self._places}
        return platforms[choice.chip], choice.runtime

    def _changes(self, best: Choice) -> Iterator[TriedChange]:
        """Yield the changes of the network that are worth it; a note for each that fails."""
        place, mode, parts = self._place(best), self._modes[best.mode], self._parts
        for change in changes_of(self._question.read.model.network, best.runtime):
            step(f"the network with {change.name} on {best.chip} {best.where}")
            try:
                tried = parts.changed(change, mode, place, best)
                if tried is None or tried.gain <= WORTH or not tried.is_sure:
                    continue
                if change.same_answers and not parts.keeps_answers(change):
                    raise HexsimError("its outputs are not those of the network as it is")
            except HexsimError as error:
                self._failures.append(f"{change.name} could not be tried: {error}")
            else:
                yield tried

    def _sensitivity(self, best: tuple[Choice, ...]) -> ChoiceSensitivity | None:
        """Quantise one layer at a time as the best choice in integers does; None if there is none.

        A note says so then.
        """
        head = next((choice for choice in best if choice.runtime in FIXED_POINT), None)
        if head is None:
            self._failures.append("no choice computes in integers, so no layer is sensitive")
            return None
        deployment = self._parts.deployment(self._modes[head.mode], self._place(head), head)
        ranked = sensitivity(
            deployment.loaded,
            judge_of(deployment, self._question.inputs),
            lambda done, total: step(f"ranking layers: {done} of {total}"),
        )
        return taken(ChoiceSensitivity, ranked, rank=head.rank)

    def _timelines(self, best: tuple[Choice, ...]) -> dict[str, Result]:
        """Simulate the best of the first places, by chip, runtime and cut, in their order."""
        first = heads(best)[:DRAWN_PLACES]
        results: dict[str, Result] = {}
        for choice in sorted(first, key=lambda choice: choice.order):  # one model at a time
            mode, place = self._modes[choice.mode], self._place(choice)
            deployment = self._parts.deployment(mode, place, choice)
            results[_name(choice)] = self._parts.simulated(deployment)
        return {_name(choice): results[_name(choice)] for choice in first}

    def _notes(self) -> tuple[str, ...]:
        question = self._question
        roles = InputRoles(question.inputs, calibrating=question.calibration)
        quantised = [f"quantised on {roles.calibration}"] if roles.calibrating else []
        anchors = (platform.anchor for platform in question.platforms[:1])
        anchor = [f"calibrated with {point.description}" for point in anchors if point]
        vtcm_mb = question.platforms[0].vtcm_mb
        vtcm = [] if vtcm_mb is None else [f"a graph may use {vtcm_mb:g} MB of VTCM"]
        return question.inputs.description, *quantised, *anchor, *vtcm, *self._failures


def _float_top1(candidates: list[Choice]) -> int | None:
    """Return how many inputs float has right; equalised networks count only without others."""
    unequalised = [c for c in candidates if not c.mode.startswith("cle")]
    return next((choice.float_top1 for choice in unequalised or candidates), None)


def _name(choice: Choice) -> str:
    return " ".join(part for part in choice.place if part)


def _quicker(first: Choice, other: Choice) -> float | None:
    """Return the share of draws in which the first is the shorter; a tie counts half.

    Draws of one chip are the same ones and are compared one by one; on two chips they are
    independent, and each is compared with all of the other. None if one has no draws.
    """
    if not first.draws_us or not other.draws_us:
        return None
    paired = first.chip == other.chip
    mine, theirs = first.draws_us, other.draws_us
    pairs = zip(mine, theirs, strict=True) if paired else product(mine, theirs)
    wins = [1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs]
    return sum(wins) / len(wins)


def _rival(best: tuple[Choice, ...]) -> Rival | None:
    """Return the best choice elsewhere.

    Times on the same hardware are wrong together, so it is one on other hardware if there is any.
    """
    elsewhere = heads(best)[1:]
    others = [other for other in elsewhere if other.hardware != best[0].hardware] or elsewhere
    if not others:
        return None
    return Rival(rank=others[0].rank, first_quicker_share=_quicker(best[0], others[0]))


def _sure(best: tuple[Choice, ...]) -> Iterator[float]:
    """Yield the share of draws in which the head of each place is quicker than the next head."""
    for head, next_head in pairwise(heads(best)):
        share = _quicker(head, next_head)
        if share is None:
            return
        yield share
