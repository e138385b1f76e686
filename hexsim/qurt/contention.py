"""Units that running threads share: the L2 port and the scalar multipliers.

Each unit is shared max-min fairly. So it has a level: users that demand less than the level get
their demand, all others get the level. A user of several units progresses at the lowest of its
rates, and demands no more of the other units than this rate needs. The levels of
units that share users depend on each other and are found by iteration.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.timing.fluid import max_min

_ROUNDS = 50
"""Limit of the iterations, in case rounding prevents convergence; a few are usually enough."""


@dataclass(frozen=True)
class SharedUnit:
    """`capacity` is in units per picosecond, `needs` in units per slot of each user."""

    capacity: float
    needs: Sequence[float]

    def limits(self, wishes: Sequence[float]) -> list[float] | None:
        """Return the rates that the unit allows for `wishes`; None if it does not limit them."""
        demands = [wish * need for wish, need in zip(wishes, self.needs, strict=True)]
        if sum(demands) <= self.capacity:
            return None
        granted = max_min(self.capacity, demands)
        level = max(granted)
        return [level / need if need else float("inf") for need in self.needs]


def contended(rates: Sequence[float], units: Sequence[SharedUnit]) -> Sequence[float]:
    """Return `rates` (slots per picosecond) as far as the shared `units` allow them."""
    limits: dict[int, list[float]] = {}
    settled = rates
    for _ in range(_ROUNDS):
        before = settled
        for number, unit in enumerate(units):
            other_limits = [limit for key, limit in limits.items() if key != number]
            limits.pop(number, None)
            new_limits = unit.limits(_lowest(rates, other_limits))
            if new_limits is not None:
                limits[number] = new_limits
        settled = _lowest(rates, list(limits.values()))
        if len(limits) <= 1 or all(
            abs(new - old) <= 1e-9 * old for new, old in zip(settled, before, strict=True)
        ):
            break
    return settled


def _lowest(rates: Sequence[float], limits: Sequence[Sequence[float]]) -> Sequence[float]:
    return [min(user) for user in zip(rates, *limits, strict=True)] if limits else rates
