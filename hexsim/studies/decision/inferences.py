"""Simulate the best choice of each place once more, for what a stored decision does not hold."""

from hexsim.studies.decision.candidates import DecisionCandidate
from hexsim.studies.decision.deciding import Decision
from hexsim.studies.decision.parts import DecisionParts
from hexsim.studies.decision.question import Question
from hexsim.studies.decision.ranking import heads
from hexsim.timing.results import Result

MOST = 8
"""Places that are simulated: more rows of a timeline are not compared by eye."""


def inferences(question: Question, decision: Decision) -> dict[str, Result]:
    """Return the results of the first places, in their order, by chip, runtime and cut."""
    parts = DecisionParts(question)
    platforms = {platform.chip.name: platform for platform in question.platforms}
    best = heads(decision.ranked)[:MOST]
    results: dict[str, Result] = {}
    for choice in sorted(best, key=lambda choice: choice.order):  # one quantised model at a time
        place, timed = (platforms[choice.chip], choice.runtime), choice.timed
        deployment = parts.deployment(choice.mode, place, timed.cut, timed.sections)
        results[_name(choice)] = deployment.simulate(
            perf_profile=question.perf_profile, idle_ms=question.idle_ms
        )
    return {_name(choice): results[_name(choice)] for choice in best}


def _name(candidate: DecisionCandidate) -> str:
    return " ".join(part for part in candidate.place if part)
