"""Find calls that repeat: threads in a closed loop settle into a periodic pattern.

The simulator is deterministic. So once the relative state of all threads is the same as one period
before, all later calls are known. The state is observed through the beginnings and ends of calls,
to the picosecond. If the last four periods are equal, all later ones are assumed to be equal.

Left out: threads whose calls never become periodic together, such as those on engines that share
nothing; they are simulated to the end. The last calls of a prolonged pattern run beside other
threads, though these have stopped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from hexsim import budget
from hexsim.timing.results import InferenceTiming

_ALIKE = 4
"""Number of equal periods after which the next ones are assumed to be equal."""


@dataclass(frozen=True)
class Repetition:
    """The last `calls` of `simulated` ones repeat those before them, `period_ps` later."""

    period_ps: int
    calls: int
    simulated: int


def in_order(calls: Sequence[InferenceTiming]) -> list[InferenceTiming]:
    """Return calls in the order of their ends."""
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
    calls: Sequence[InferenceTiming], repeats: Repetition, until_ps: int
) -> list[InferenceTiming]:
    """Return `calls` and their repetitions that begin before `until_ps`.

    Raises HexsimError if there are more than the budget allows.
    """
    total = repeats.simulated + (until_ps // repeats.period_ps) * repeats.calls
    budget.require(budget.CALLS, total, "the duration of the workload")
    result = list(calls)
    for number in count(1):
        later = number * repeats.period_ps
        more = [
            replace(call, start_ps=call.start_ps + later, end_ps=call.end_ps + later)
            for call in calls[-repeats.calls :]
            if call.start_ps + later < until_ps
        ]
        if not more:
            break
        result += more
    return result


def _is_again(call: InferenceTiming, before: InferenceTiming, apart_ps: int) -> bool:
    starts, ends = call.start_ps - before.start_ps, call.end_ps - before.end_ps
    return call.job == before.job and starts == ends == apart_ps
