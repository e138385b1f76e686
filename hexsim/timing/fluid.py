"""A rate that a changing number of users share: the algorithm under threads and memory.

Each user has an amount of work (packets, bytes). All users progress at once, like fluids in pipes,
at rates that depend on the other users. Whenever a user joins or leaves, the progress so far is
recorded. After all other events of that instant, the rates are computed again and the next
finishing time is scheduled. So there is an event per user, not per packet or byte, and a user that
leaves and returns at the same instant changes nothing.

`SharedRate` is that algorithm; a subclass defines the rates at which a set of users progresses.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import simpy

from hexsim.timing.simtime import AFTER_ALL_ELSE, Environment, Moment

DemandT = TypeVar("DemandT")


class Sojourn(Moment, Generic[DemandT]):
    """The use of a resource by one user, which happens when its work is done.

    `still_ps` is how long its rate has been zero.
    """

    def __init__(self, env: Environment, amount: float, demand: DemandT) -> None:
        super().__init__(env)
        self.demand = demand
        self.remaining = amount
        self.rate = 0.0
        self.still_ps = 0


class _Settled(simpy.Event):
    """An event that happens after all others of this instant."""

    def __init__(self, env: Environment, then: Callable[[simpy.Event], None]) -> None:
        super().__init__(env)
        self.callbacks.append(then)
        self._ok = True
        self._value = None
        env.schedule(self, priority=AFTER_ALL_ELSE)


class SharedRate(ABC, Generic[DemandT]):
    """Users of one resource, in the order in which they joined."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._users: list[Sojourn[DemandT]] = []
        self._booked_ps = 0
        self._wakeup: simpy.Event | None = None
        self._settling = False
        self.on_rates: Callable[[float], None] | None = None
        """Called with the sum of all rates whenever they have been computed."""

    def use(self, amount: float, demand: DemandT) -> Sojourn[DemandT]:
        """Join with `amount` units of work; the returned event succeeds when they are done."""
        user = Sojourn(self.env, amount, demand)
        if not self._settling:
            self._begin_to_settle()
            _Settled(self.env, self._share)
        self._users.append(user)
        return user

    @abstractmethod
    def _rates(self, demands: Sequence[DemandT]) -> Sequence[float]:
        """Return the units per picosecond of each user, 0 for a user that has to wait."""

    def _share_after(self, delay_ps: int) -> None:
        """Compute the rates again after a delay, even if no user joins or leaves."""
        simpy.Timeout(self.env, delay_ps).callbacks.append(self._share_again)

    def _share_again(self, _: simpy.Event) -> None:
        if not self._settling:
            self._begin_to_settle()
            self._settle()

    def _begin_to_settle(self) -> None:
        """Book the progress, as the rates will change; the scheduled finish is cancelled."""
        self._settling = True
        self._wakeup = None
        now = self.env.now
        elapsed, self._booked_ps = now - self._booked_ps, now
        for user in self._users:
            if user.rate:
                user.remaining -= user.rate * elapsed
            else:
                user.still_ps += elapsed

    def _settle(self) -> None:
        """Compute the rates at the end of this instant."""
        if self.env.ends_instant:
            self._share()
        else:
            _Settled(self.env, self._share)

    def _share(self, _: simpy.Event | None = None) -> None:
        """Compute the rates of all users and schedule the first finish."""
        self._settling = False
        soonest = math.inf
        rates = self._rates([user.demand for user in self._users])
        for user, rate in zip(self._users, rates, strict=True):
            user.rate = rate
            if rate > 0 and (needed := user.remaining / rate) < soonest:
                soonest = needed
        if self.on_rates is not None:
            self.on_rates(sum(rates))
        if soonest < math.inf:
            self._wakeup = simpy.Timeout(self.env, max(0, math.ceil(soonest)))
            self._wakeup.callbacks.append(self._finish)

    def _finish(self, wakeup: simpy.Event) -> None:
        if wakeup is not self._wakeup:
            return  # another user joined since, and a later wake-up was scheduled
        self._begin_to_settle()
        done = [user for user in self._users if user.remaining <= user.rate * _ROUNDING_PS]
        self._users = [user for user in self._users if user not in done]
        for user in done:
            user.happen()
        self._settle()


_ROUNDING_PS = 0.5
"""Wake-ups are at whole picoseconds; work that would end within half a picosecond has ended."""


def max_min(capacity: float, caps: Sequence[float]) -> list[float]:
    """Share `capacity` max-min fairly among users who can take at most `caps` each.

    No user could get more unless a user that has less, or as much, got less.
    """
    shares = [0.0] * len(caps)
    remaining = capacity
    order = sorted(range(len(caps)), key=caps.__getitem__)
    for position, user in enumerate(order):
        shares[user] = min(caps[user], remaining / (len(order) - position))
        remaining -= shares[user]
    return shares
