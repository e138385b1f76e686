"""Which classes of instructions are issued in each packet slot of a schedule in the making.

What a packet holds is a state of an automaton, as in LLVM's packetizer: `fits` is asked once per
state, and then one look into a dictionary tells what a packet becomes when more instructions join.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import fits

Wants = tuple[tuple[str, ...], ...]
"""What a node wants in each packet from its start on: class names of all its instructions."""


class Filling:
    """Classes that share a packet (sorted names), and whether they can: `fit`."""

    def __init__(
        self, machine: HvxMachine, names: tuple[str, ...], known: dict[tuple[str, ...], Filling]
    ):
        self.machine = machine
        self.names = names
        self.fit = fits(machine, names)
        self._known = known  # all fillings of the machine, by names
        self._joined: dict[tuple[str, ...], Filling] = {}

    def joined(self, names: tuple[str, ...]) -> Filling:
        """What it is when these classes join."""
        found = self._joined.get(names)
        if found is None:
            found = self._joined[names] = self._other(tuple(sorted(self.names + names)))
        return found

    def parted(self, names: tuple[str, ...]) -> Filling:
        """What it is when these classes are taken out."""
        left = list(self.names)
        for name in names:
            left.remove(name)
        return self._other(tuple(left))

    def _other(self, names: tuple[str, ...]) -> Filling:
        if names not in self._known:
            self._known[names] = Filling(self.machine, names, self._known)
        return self._known[names]


@cache
def empty(machine: HvxMachine) -> Filling:
    """The packet with nothing in it, from which all others of a machine are reached."""
    known: dict[tuple[str, ...], Filling] = {}
    return known.setdefault((), Filling(machine, (), known))


class ReservationTable:
    """What each packet slot holds; `period` folds slots for a loop."""

    def __init__(self, machine: HvxMachine, period: int | None = None):
        self.period = period or sys.maxsize  # straight code is a loop without a second turn
        self.empty = empty(machine)
        self.rows: dict[int, Filling] = {}

    def has_room(self, slot: int, wants: Wants) -> bool:
        """Whether a node with these wants could start in a slot."""
        if len(wants) == 1:  # as nearly all
            return self.rows.get(slot % self.period, self.empty).joined(wants[0]).fit
        wanted: dict[int, Filling] = {}
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            wanted[row] = (wanted.get(row) or self.rows.get(row, self.empty)).joined(names)
        return all(filling.fit for filling in wanted.values())

    def first(self, slots: Iterable[int], wants: Wants) -> int | None:
        """The first of these slots in which a node with these wants could start."""
        return next((slot for slot in slots if self.has_room(slot, wants)), None)

    def add(self, slot: int, wants: Wants) -> None:
        """Issue a node in a slot."""
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            self.rows[row] = self.rows.get(row, self.empty).joined(names)

    def remove(self, slot: int, wants: Wants) -> None:
        """Take a node out again."""
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            self.rows[row] = self.rows[row].parted(names)
