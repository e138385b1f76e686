"""Units that running threads share: the L2 port, the scalar multipliers.

Each unit serves whoever has had least of it. So it has a level: users who want less than the level
get what they want, all others get the level. A user who needs several units goes at the pace of
the one that holds it up most, and asks the others for no more than that pace takes. The levels of
units that share users depend on each other and are found by iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.timing.fluid import max_min

_ROUNDS = 50
"""Far more than it takes; a bound for the case that rounding keeps two levels apart."""


@dataclass(frozen=True)
class SharedUnit:
    """`capacity` units per picosecond; `needs` are units per slot of each user, 0 for none."""

    capacity: float
    needs: Sequence[float]

    def limits(self, wishes: Sequence[float]) -> list[float] | None:
        """The rates that the unit allows users who wish for these; None if it is no limit."""
        wanted = [wish * need for wish, need in zip(wishes, self.needs, strict=True)]
        if sum(wanted) <= self.capacity:
            return None
        granted = max_min(self.capacity, wanted)
        level = max(granted)
        return [level / need if need else float("inf") for need in self.needs]


def contended(rates: Sequence[float], units: Sequence[SharedUnit]) -> Sequence[float]:
    """Return the rates (slots per picosecond) that remain of `rates` when `units` are shared."""
    limits: dict[int, list[float]] = {}
    settled = rates
    for _ in range(_ROUNDS):
        before = settled
        for number, unit in enumerate(units):
            others = [limit for key, limit in limits.items() if key != number]
            limits.pop(number, None)
            own = unit.limits(_lowest(rates, others))
            if own is not None:
                limits[number] = own
        settled = _lowest(rates, list(limits.values()))
        if len(limits) <= 1 or all(
            abs(new - old) <= 1e-9 * old for new, old in zip(settled, before, strict=True)
        ):
            break
    return settled


def _lowest(rates: Sequence[float], limits: Sequence[Sequence[float]]) -> Sequence[float]:
    return [min(user) for user in zip(rates, *limits, strict=True)] if limits else rates
