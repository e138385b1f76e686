"""Calls that repeat: threads in a closed loop settle into a pattern, which then goes on and on.

Nothing in the simulator depends on chance or on the time of day. So once all threads stand to each
other as they stood a period before, everything after that is known. What is seen of where they
stand are the beginnings and ends of their calls, to the picosecond. If the last four periods are
alike, the next ones are taken to be so.

Left out: threads whose calls never fall into step, as those of engines that share nothing; they are
simulated to the end. The last calls of a pattern that is prolonged run beside other threads, though
these have stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from hexsim import budget
from hexsim.timing.results import InferenceTiming

_ALIKE = 4
"""Periods that must be alike before the next one is taken to be."""


@dataclass(frozen=True)
class Repetition:
    """The last `calls` of some are those before them, `period_ps` later; `simulated` are all."""

    period_ps: int
    calls: int
    simulated: int


def in_order(calls: Sequence[InferenceTiming]) -> list[InferenceTiming]:
    """Calls by their ends."""
    return sorted(calls, key=lambda call: (call.end_ps, call.job))


def repetition(calls: Sequence[InferenceTiming], jobs: int) -> Repetition | None:
    """Return the shortest period with which calls `in_order` end; None if they do not repeat.

    Each of the `jobs` ends at least one call in it.
    """
    for period in range(jobs, len(calls) // _ALIKE + 1):
        apart = calls[-1].end_ps - calls[-1 - period].end_ps
        last = range(len(calls) - (_ALIKE - 1) * period, len(calls))
        is_again = all(_is_again(calls[at], calls[at - period], apart) for at in last)
        if is_again and len({call.job for call in calls[-period:]}) == jobs:
            return Repetition(apart, period, len(calls))
    return None


def prolonged(
    calls: Sequence[InferenceTiming], found: Repetition, until_ps: int
) -> list[InferenceTiming]:
    """Return `calls` and those that follow, as long as they begin before `until_ps`.

    Raises HexsimError if they are more than the budget allows.
    """
    asked = found.simulated + (until_ps // found.period_ps) * found.calls
    budget.require(budget.CALLS, asked, "the duration of the workload")
    result = list(calls)
    for number in count(1):
        later = number * found.period_ps
        more = [
            replace(call, start_ps=call.start_ps + later, end_ps=call.end_ps + later)
            for call in calls[-found.calls :]
            if call.start_ps + later < until_ps
        ]
        if not more:
            break
        result += more
    return result


def _is_again(call: InferenceTiming, before: InferenceTiming, apart_ps: int) -> bool:
    starts, ends = call.start_ps - before.start_ps, call.end_ps - before.end_ps
    return call.job == before.job and starts == ends == apart_ps
