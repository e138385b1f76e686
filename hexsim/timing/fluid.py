"""A rate that a changing number of users share: the algorithm under threads and memory.

Users come with an amount of work (packets, bytes). All of them progress at once, like fluids in
pipes, at rates that depend on who else is there. Whenever somebody joins or leaves, the progress
so far is booked; once everything of that instant has happened, the rates are computed anew and the
next finishing time is scheduled. So an event happens per user, not per packet or byte, and nobody
is thought gone who leaves and comes back without time passing.

`SharedRate` holds that algorithm; a subclass only says at what rates a set of users progresses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import simpy
from simpy.events import NORMAL, EventPriority

from hexsim.timing.simtime import Environment

DemandT = TypeVar("DemandT")


class Sojourn(simpy.Event, Generic[DemandT]):
    """One user's stay: an event that succeeds when its work is done.

    `still_ps` is how long it has stood still, at a rate of zero.
    """

    def __init__(self, env: Environment, amount: float, demand: DemandT) -> None:
        super().__init__(env)
        self.demand = demand
        self.remaining = amount
        self.rate = 0.0
        self.still_ps = 0


class _Settled(simpy.Event):
    """Happens now, but after everything else that happens now."""

    def __init__(self, env: Environment, then: Callable[[simpy.Event], None]) -> None:
        super().__init__(env)
        self.callbacks.append(then)
        self._ok = True
        self._value = None
        env.schedule(self, priority=_AFTER_ALL_ELSE)


class SharedRate(ABC, Generic[DemandT]):
    """Users of one resource, in the order in which they came."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._users: list[Sojourn[DemandT]] = []
        self._booked_ps = 0
        self._wakeup: simpy.Event | None = None
        self._settling = False
        self.told: Callable[[float], None] | None = None
        """Called with the sum of all rates whenever they were computed."""

    def use(self, amount: float, demand: DemandT) -> Sojourn[DemandT]:
        """Join with `amount` units of work; the returned event succeeds when they are done."""
        user = Sojourn(self.env, amount, demand)
        self._settle()
        self._users.append(user)
        return user

    @abstractmethod
    def _rates(self, demands: Sequence[DemandT]) -> Sequence[float]:
        """Return the units per picosecond of each user; zero for one that has to wait."""

    def _share_after(self, delay_ps: int) -> None:
        """Compute the rates again after a delay, whoever joins or leaves until then."""
        self.env.timeout(delay_ps).callbacks.append(lambda _: self._settle())

    def _book_progress(self) -> None:
        elapsed = self.env.now - self._booked_ps
        self._booked_ps = self.env.now
        if elapsed:
            for user in self._users:
                if user.rate:
                    user.remaining -= user.rate * elapsed
                else:
                    user.still_ps += elapsed

    def _settle(self) -> None:
        """Share once the users of this instant are known; what was to happen may now not."""
        self._book_progress()
        self._wakeup = None
        if not self._settling:
            self._settling = True
            _Settled(self.env, self._share)

    def _share(self, _: simpy.Event) -> None:
        """Compute the rates of all users and schedule the first finish."""
        self._settling = False
        soonest = math.inf
        rates = self._rates([user.demand for user in self._users])
        for user, rate in zip(self._users, rates, strict=True):
            user.rate = rate
            if rate > 0 and (left := user.remaining / rate) < soonest:
                soonest = left
        if self.told is not None:
            self.told(sum(rates))
        if soonest < math.inf:
            self._wakeup = self.env.timeout(max(0, math.ceil(soonest)))
            self._wakeup.callbacks.append(self._finish)

    def _finish(self, wakeup: simpy.Event) -> None:
        if wakeup is not self._wakeup:
            return  # somebody joined since; a later wake-up was scheduled then
        self._book_progress()
        done = [user for user in self._users if user.remaining <= user.rate * _ROUNDING_PS]
        self._users = [user for user in self._users if user not in done]
        for user in done:
            user.succeed()
        self._settle()


_ROUNDING_PS = 0.5
"""Wake-ups are at whole picoseconds; what would end within half a one has ended."""

_AFTER_ALL_ELSE = EventPriority(NORMAL + 1)
"""Of the events of one instant simpy takes urgent ones first, then normal ones, then these."""


def max_min(capacity: float, caps: Sequence[float]) -> list[float]:
    """Share `capacity` max-min fairly among users who can take at most `caps` each.

    Nobody could get more without somebody who has less, or as much, getting less.
    """
    shares = [0.0] * len(caps)
    left = capacity
    order = sorted(range(len(caps)), key=lambda user: caps[user])
    for position, user in enumerate(order):
        shares[user] = min(caps[user], left / (len(order) - position))
        left -= shares[user]
    return shares
